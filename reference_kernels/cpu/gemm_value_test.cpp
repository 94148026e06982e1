// The values of gemm: its error bound, special values, odd operands.
#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/gemm_testing.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

template <class T>
class GemmValue : public ::testing::Test {};
TYPED_TEST_SUITE(GemmValue, Dtypes, DtypeName);

struct Shape {
  std::int64_t m, n, k;
};

TYPED_TEST(GemmValue, ZerosAppendedToKChangeNoBit) {
  for (const std::int64_t m : {1, 6, 50}) {
    const Problem<TypeParam> p(m, 29, 45, 3);
    for (const Layout layout : kLayouts) {
      const auto expected = run(p, layout);
      for (const std::int64_t k : {46, 48, 61, 64, 65, 200}) {
        EXPECT_TRUE(same_bits(run(padded(p, k), layout), expected)) << m << " " << k;
      }
    }
  }
}

TYPED_TEST(GemmValue, SumOfUnderflowsIsPlusZeroPaddedOrNot) {
  Problem<TypeParam> p(3, 4, 32);
  const Acc<TypeParam> tiny = std::numeric_limits<Acc<TypeParam>>::min();
  p.a.assign(p.a.size(), narrow<TypeParam>(tiny));
  p.w.assign(p.w.size(), narrow<TypeParam>(-tiny));
  // To a bias of -0 the sum's own sign matters: -0 alone would stay -0.
  p.bias.assign(p.n, narrow<TypeParam>(Acc<TypeParam>(-0.0)));
  Problem<TypeParam> without = p;
  without.bias.clear();
  for (const Layout layout : kLayouts) {
    for (const auto& problem : {p, without}) {
      const auto y = run(problem, layout);
      for (const TypeParam v : y) EXPECT_EQ(bits_of(v), 0u);
      EXPECT_TRUE(same_bits(run(padded(problem, 64), layout), y));
    }
  }
}

TYPED_TEST(GemmValue, NanIsCanonicalAndStaysInItsRow) {
  const auto inf = narrow<TypeParam>(std::numeric_limits<Acc<TypeParam>>::infinity());
  for (const std::int64_t m : {3, 12, 60}) {
    Problem<TypeParam> p(m, 31, 40, 8);
    for (std::int64_t j = 0; j < p.n; ++j)
      p.w[j * p.k + 3] = p.w[j * p.k + 4] = narrow<TypeParam>(1);
    const auto clean = run(p, Layout::kNT);
    p.a[1 * p.k + 39] = strange_nan<TypeParam>();
    p.a[2 * p.k + 3] = inf;
    p.a[2 * p.k + 4] = narrow<TypeParam>(-widen(inf));
    for (const Layout layout : kLayouts) {
      const auto y = run(p, layout);
      for (std::int64_t i = 0; i < m * p.n; ++i) {
        const bool bad = i / p.n == 1 || i / p.n == 2;
        EXPECT_EQ(bits_of(y[i]), bad ? canonical_nan_bits<TypeParam>() : bits_of(clean[i]));
      }
    }
  }
}

TYPED_TEST(GemmValue, ErrorStaysWithinItsBoundOnEveryTarget) {
  const bool wide = std::is_same_v<TypeParam, double>;
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const Shape s : {Shape{3, 40, 70}, Shape{40, 33, 500}}) {
      const Problem<TypeParam> p(s.m, s.n, s.k, 11);
      const auto y = run(p, Layout::kNT);
      for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) {
          long double sum = widen(p.bias[j]), size = std::abs(sum);
          for (std::int64_t k = 0; k < s.k; ++k) {
            const long double term =
                static_cast<long double>(widen(p.a[i * s.k + k])) * widen(p.w[j * s.k + k]);
            sum += term;
            size += std::abs(term);
          }
          // Two roundings a term on the baseline, one elsewhere.
          const double terms = (s.k / (wide ? 8.0 : 16.0) + 6) * (fuses(target) ? 1 : 2);
          const double bound = terms * (wide ? 0x1p-53 : 0x1p-24) * static_cast<double>(size);
          const double got = widen(y[i * s.n + j]);
          EXPECT_LE(std::abs(static_cast<double>(got - sum)),
                    bound + half_ulp<TypeParam>(got) * 1.01);
        }
      }
    }
  }
}

TYPED_TEST(GemmValue, BatchEqualsSeparateCalls) {
  for (const std::int64_t m : {1, 7, 40}) {
    for (const bool nt : {true, false}) {
      const std::int64_t batch = 5, n = 34, k = 50;
      const auto a = random_values<TypeParam>(batch * m * k, 1),
                 w = random_values<TypeParam>(batch * n * k, 2);
      GemmArgs<TypeParam> g;
      g.m = m, g.n = n, g.k = k, g.a_row = k, g.w_k = nt ? 1 : n, g.w_n = nt ? k : 1, g.y_row = n;
      std::vector<TypeParam> together(batch * m * n), apart(batch * m * n);
      for (std::int64_t b = 0; b < batch; ++b) {
        g.a = &a[b * m * k], g.w = &w[b * n * k], g.y = &apart[b * m * n];
        gemm(g, serial);
      }
      g.a = a.data(), g.w = w.data(), g.y = together.data();
      g.batch = batch, g.a_batch = m * k, g.w_batch = n * k, g.y_batch = m * n;
      gemm(g, odd_threads);
      EXPECT_TRUE(same_bits(together, apart)) << m << nt;
    }
  }
}

/// alpha * (sum of the plain gemm) + beta * c, each rounded; fp32 and fp64, whose sums y holds.
template <class T>
std::vector<T> scaled(const std::vector<T>& sums, const std::vector<T>& c, T alpha, T beta) {
  std::vector<T> y;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const T left = alpha * sums[i], right = beta * c[i];
    y.push_back(left + right);
  }
  return y;
}

TYPED_TEST(GemmValue, AddendOfAnyShapeIsScaledAndAddedInPlaceToo) {
  using T = TypeParam;
  for (const std::int64_t m : {1, 2, 7, 40}) {
    for (const bool nt : {true, false}) {
      const std::int64_t n = 34, k = 50;
      const auto a = random_values<T>(m * k, 1), w = random_values<T>(n * k, 2),
                 c = random_values<T>(m * n, 3);
      GemmArgs<T> g{a.data(), w.data(), nullptr, nullptr};
      g.m = m, g.n = n, g.k = k, g.a_row = k, g.w_k = nt ? 1 : n, g.w_n = nt ? k : 1, g.y_row = n;
      std::vector<T> sums(m * n), y(m * n);
      g.y = sums.data();
      gemm(g, serial);
      g.alpha = 0.75, g.beta = -1.5;
      for (const auto& [row, col] :
           {std::pair{n, 1}, std::pair{n, 0}, std::pair{std::int64_t{0}, 1}}) {
        std::vector<T> addend(m * n);
        for (std::int64_t i = 0; i < m * n; ++i) addend[i] = c[i / n * row + i % n * col];
        g.bias = c.data(), g.bias_row = row, g.bias_n = col, g.y = y.data();
        gemm(g, serial);
        if constexpr (sizeof(T) >= 4) {
          EXPECT_TRUE(same_bits(y, scaled<T>(sums, addend, 0.75, -1.5))) << m << row << col;
        }
        g.bias = addend.data(), g.bias_row = n, g.bias_n = 1, g.y = addend.data();
        gemm(g, odd_threads);
        EXPECT_TRUE(same_bits(addend, y)) << "in place";
      }
    }
  }
}

TYPED_TEST(GemmValue, ColumnOfResultsHasTheBitsOfAnyOther) {
  const std::int64_t m = 37, k = 61;
  const Problem<TypeParam> p(m, 3, k, 5);
  for (const Layout layout : kLayouts) {
    const auto three = run(p, layout);
    std::vector<TypeParam> y(m);
    const auto column = place(p.w, k, k, 1, 0);
    GemmArgs<TypeParam> g{p.a.data(), column.data() + k, p.bias.data() + 1, y.data()};
    g.m = m, g.n = 1, g.k = k, g.a_row = k, g.w_k = 1, g.w_n = k, g.y_row = 1;
    gemm(g, odd_threads);
    for (std::int64_t i = 0; i < m; ++i) EXPECT_EQ(bits_of(y[i]), bits_of(three[3 * i + 1]));
  }
}

TYPED_TEST(GemmValue, EmptySumIsTheBiasOrPlusZero) {
  for (const std::int64_t m : {1, 40}) {
    Problem<TypeParam> p(m, 9, 0);
    for (const Layout layout : kLayouts) {
      const auto y = run(p, layout);
      for (std::int64_t i = 0; i < m * 9; ++i) EXPECT_EQ(bits_of(y[i]), bits_of(p.bias[i % 9]));
    }
    p.bias.clear();
    for (const TypeParam v : run(p, Layout::kNT)) EXPECT_EQ(bits_of(v), 0u);
  }
}

TYPED_TEST(GemmValue, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  for (const Layout layout : kLayouts) {
    TaskCounter small, few_rows, many_rows;
    run(Problem<TypeParam>(8, 64, 63), layout, small.parallel());
    run(Problem<TypeParam>(1, 2048, 256), layout, few_rows.parallel());
    run(Problem<TypeParam>(400, 128, 64), layout, many_rows.parallel());
    EXPECT_EQ(small.most, 0);
    EXPECT_GE(few_rows.most, 16);
    EXPECT_GE(many_rows.most, 16);
  }
}

TYPED_TEST(GemmValue, BroadcastAndReversedOperandsAreRead) {
  const std::int64_t m = 6, n = 20, k = 33;
  const auto a = random_values<TypeParam>(k, 1), w = random_values<TypeParam>(n * k, 2);
  Problem<TypeParam> p(m, n, k);
  p.bias.clear();
  for (std::int64_t i = 0; i < m * k; ++i) p.a[i] = a[k - 1 - i % k];
  p.w = w;
  std::vector<TypeParam> y(m * n);
  GemmArgs<TypeParam> g{a.data() + k - 1, w.data(), nullptr, y.data()};
  g.m = m, g.n = n, g.k = k, g.a_row = 0, g.a_k = -1, g.w_k = 1, g.w_n = k, g.y_row = n;
  gemm(g, serial);
  EXPECT_TRUE(same_bits(y, run(p, Layout::kNT)));
}

}  // namespace
}  // namespace bic::cpu

#include "reference_kernels/cpu/sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/kernel_testing.h"
#include "reference_kernels/cpu/naive.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

enum class Layout { kRows, kColumns, kStrided, kTwoAxes };
constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kStrided, Layout::kTwoAxes};

/// Sums `rows` rows of n terms laid out as asked; y[i] belongs to row i.
template <class T>
std::vector<T> run(const std::vector<T>& x,
                   std::int64_t rows,
                   std::int64_t n,
                   Layout layout,
                   const ParallelFor& parallel = serial,
                   std::int64_t offset = 0,
                   bool mean = false) {
  SumArgs<T> g;
  g.reduced = n, g.divisor = mean ? static_cast<double>(n) : 1;
  std::int64_t row = n, term = 1;
  if (layout == Layout::kRows) g.outer = rows, g.x_outer = row = n + offset, g.y_outer = 1;
  if (layout == Layout::kColumns)
    g.inner = rows, g.x_reduced = term = rows + offset, g.x_inner = row = 1;
  if (layout == Layout::kStrided) {
    g.inner = rows, g.x_reduced = term = 2 * rows + 1, g.x_inner = row = 2;
  }
  std::vector<T> laid(offset + (rows + 1) * row + (n + 1) * term, narrow<T>(Acc<T>(99)));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t r = 0; r < n; ++r) laid[offset + i * row + r * term] = x[i * n + r];
  }
  if (layout == Layout::kTwoAxes) {
    // [rows, n] again, but the terms are walked as two axes with a gap between their pieces.
    const std::int64_t piece = n % 3 == 0 ? n / 3 : n, gap = piece + 4,
                       pieces = piece ? n / piece : 1;
    laid.assign(offset + rows * pieces * gap, narrow<T>(Acc<T>(99)));
    for (std::int64_t i = 0; i < rows * n; ++i) {
      laid[offset + i / n * pieces * gap + i % n / piece * gap + i % n % piece] = x[i];
    }
    g.outer = rows, g.x_outer = pieces * gap, g.y_outer = 1;
    g.slow = pieces, g.x_slow = gap, g.reduced = piece;
  }
  std::vector<T> y(rows, narrow<T>(Acc<T>(5)));
  g.x = laid.data() + offset, g.y = y.data();
  sum(g, parallel);
  return y;
}

template <class T>
std::vector<T> run_naive(const std::vector<T>& x, std::int64_t rows, std::int64_t n, bool mean) {
  std::vector<T> y;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<Acc<T>> wide;
    for (std::int64_t r = 0; r < n; ++r) wide.push_back(widen(x[i * n + r]));
    const Acc<T> s = naive::sum(wide);
    y.push_back(narrow<T>(mean ? s / static_cast<Acc<T>>(n) : s));
  }
  return y;
}

template <class T>
class Sum : public ::testing::Test {};
TYPED_TEST_SUITE(Sum, Dtypes, DtypeName);

TYPED_TEST(Sum, FollowsTheStatedOrderInEveryLayoutOnEveryTarget) {
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const std::int64_t n : {1, 2, 15, 16, 17, 48, 99, 1000}) {
      for (const std::int64_t rows : {1, 3, 8, 17, 130, 257}) {
        const auto x = cancelling_rows<TypeParam>(rows, n, n);
        for (const bool mean : {false, true}) {
          const auto expected = run_naive(x, rows, n, mean);
          for (const Layout layout : kLayouts) {
            EXPECT_TRUE(same_bits(run(x, rows, n, layout, serial, 0, mean), expected))
                << rows << "x" << n << " layout " << static_cast<int>(layout);
          }
        }
      }
    }
  }
}

TYPED_TEST(Sum, ThreadsAndAlignmentChangeNoBit) {
  const std::int64_t rows = 300, n = 150;
  const auto x = cancelling_rows<TypeParam>(rows, n, 4);
  const auto expected = run_naive(x, rows, n, false);
  for (const Layout layout : kLayouts) {
    for (const std::int64_t offset : {0, 1, 3, 7}) {
      EXPECT_TRUE(same_bits(run(x, rows, n, layout, odd_threads, offset), expected));
      EXPECT_TRUE(same_bits(run(x, rows, n, layout, one_by_one, offset), expected));
    }
  }
}

TYPED_TEST(Sum, ZerosAppendedToARowChangeNoBit) {
  const auto x = cancelling_rows<TypeParam>(1, 43, 6);
  const auto expected = run_naive(x, 1, 43, false);
  for (const std::int64_t n : {44, 48, 64, 100}) {
    auto longer = x;
    longer.resize(n, narrow<TypeParam>(0));
    EXPECT_TRUE(same_bits(run(longer, 1, n, Layout::kRows), expected));
    EXPECT_TRUE(same_bits(run(longer, 1, n, Layout::kStrided), expected));
  }
}

TYPED_TEST(Sum, TheOrderShowsInTheseValues) {
  // Else the tests above could not tell one order from another.
  int differ = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const auto x = cancelling_rows<TypeParam>(1, 1000, seed);
    Acc<TypeParam> in_sequence = 0;
    for (const TypeParam v : x) in_sequence += widen(v);
    differ += bits_of(narrow<TypeParam>(in_sequence)) != bits_of(run_naive(x, 1, 1000, false)[0]);
  }
  EXPECT_GE(differ, 20);
}

TYPED_TEST(Sum, NanIsCanonicalAndStaysInItsRow) {
  const auto inf = std::numeric_limits<Acc<TypeParam>>::infinity();
  auto x = cancelling_rows<TypeParam>(20, 33, 2);
  const auto clean = run_naive(x, 20, 33, false);
  x[5 * 33 + 32] = strange_nan<TypeParam>();
  x[6 * 33] = narrow<TypeParam>(inf);
  x[6 * 33 + 9] = narrow<TypeParam>(-inf);
  for (const Layout layout : kLayouts) {
    const auto y = run(x, 20, 33, layout);
    for (int i = 0; i < 20; ++i) {
      const bool bad = i == 5 || i == 6;
      EXPECT_EQ(bits_of(y[i]), bad ? canonical_nan_bits<TypeParam>() : bits_of(clean[i]));
    }
  }
}

TYPED_TEST(Sum, OfNothingIsPlusZeroAndItsMeanIsNan) {
  const std::vector<TypeParam> x;
  for (const Layout layout : {Layout::kRows, Layout::kColumns}) {
    for (const TypeParam v : run(x, 3, 0, layout)) EXPECT_EQ(bits_of(v), 0u);
    for (const TypeParam v : run(x, 3, 0, layout, serial, 0, true)) {
      EXPECT_EQ(bits_of(v), canonical_nan_bits<TypeParam>());
    }
  }
}

TYPED_TEST(Sum, ErrorStaysWithinItsBound) {
  const std::int64_t rows = 20, n = 3000;
  const auto x = cancelling_rows<TypeParam>(rows, n, 12);
  const auto y = run(x, rows, n, Layout::kRows);
  for (std::int64_t i = 0; i < rows; ++i) {
    long double exact = 0, size = 0;
    for (std::int64_t r = 0; r < n; ++r) {
      exact += widen(x[i * n + r]);
      size += std::abs(static_cast<long double>(widen(x[i * n + r])));
    }
    const double unit = std::is_same_v<TypeParam, double> ? 0x1p-53 : 0x1p-24;
    const double bound = (n / 16 + 5) * unit * static_cast<double>(size);
    EXPECT_LE(std::abs(static_cast<double>(widen(y[i]) - exact)),
              bound + half_ulp<TypeParam>(widen(y[i])) * 1.01);
  }
}

TYPED_TEST(Sum, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  const auto x = random_values<TypeParam>(64 * 4096, 3);
  for (const Layout layout : kLayouts) {
    TaskCounter small, large;
    run(x, 31, 1000, layout, small.parallel());
    run(x, 64, 4096, layout, large.parallel());
    EXPECT_EQ(small.most, 0);
    EXPECT_GE(large.most, layout == Layout::kRows || layout == Layout::kTwoAxes ? 16 : 4);
  }
}

}  // namespace
}  // namespace bic::cpu

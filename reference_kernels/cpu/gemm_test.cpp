// The bits of gemm: its order, and everything that must not change them.
#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/gemm_testing.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

template <class T>
class Gemm : public ::testing::Test {};
TYPED_TEST_SUITE(Gemm, Dtypes, DtypeName);

struct Shape {
  std::int64_t m, n, k;
};
// Beside the tiles of every target (1 to 8 rows, 1 to 48 columns), the steps of 8, 16 and 32 terms
// and the changes of kernel at 8 and 16 rows; sums in two parts, and more rows than are packed at a
// time.
constexpr Shape kShapes[] = {{1, 1, 1},
                             {1, 7, 16},
                             {2, 3, 17},
                             {3, 6, 31},
                             {4, 24, 32},
                             {5, 25, 33},
                             {7, 5, 100},
                             {8, 48, 64},
                             {9, 49, 129},
                             {31, 8, 40},
                             {33, 65, 72},
                             {140, 37, 29},
                             {50, 13, 257},
                             {4, 9, 6200},
                             {400, 2, 6200}};

/// f on every target, with VDPBF16PS and without.
template <class F>
void on_every_target(F f) {
  for (const bool lacks : {false, true}) {
    const Bf16Dot dot(lacks);
    for (const std::int64_t target : targets()) {
      const OnTarget on(target);
      f(target);
    }
  }
}

TYPED_TEST(Gemm, FollowsTheStatedOrderOnEveryFusingTarget) {
  for (const Shape s : kShapes) {
    for (const bool with_bias : {true, false}) {
      Problem<TypeParam> p(s.m, s.n, s.k, s.k);
      if (!with_bias) p.bias.clear();
      const auto expected = run_naive(p);
      on_every_target([&](std::int64_t target) {
        if (!fuses(target)) return;
        for (const Layout layout : kLayouts) {
          EXPECT_TRUE(same_bits(run(p, layout), expected))
              << hwy::TargetName(target) << " " << s.m << "x" << s.n << "x" << s.k << " layout "
              << static_cast<int>(layout);
        }
      });
    }
  }
}

/// Half of the operands subnormal, their partners large; products of the others near the smallest
/// normal number.
Problem<hwy::bfloat16_t> tiny_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem<hwy::bfloat16_t> p(m, n, k);
  p.bias.clear();
  for (std::int64_t i = 0; i < m * k; ++i) {
    p.a[i] = narrow<hwy::bfloat16_t>(std::ldexp(widen(p.a[i]), i % k % 4 < 2 ? -64 : -130));
  }
  for (std::int64_t i = 0; i < n * k; ++i) {
    p.w[i] = narrow<hwy::bfloat16_t>(std::ldexp(widen(p.w[i]), i % k % 4 < 2 ? -64 : 5));
  }
  return p;
}

TEST(GemmOfBf16, TakesSubnormalsForZeroInEveryKernelOrInNone) {
  for (const Shape s : {Shape{1, 40, 65}, Shape{7, 33, 64}, Shape{40, 50, 97}, Shape{3, 9, 6200}}) {
    const auto p = tiny_problem(s.m, s.n, s.k);
    const auto kept = run_naive(p), flushed = run_naive(p, true);
    int differ = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) differ += bits_of(kept[i]) != bits_of(flushed[i]);
    EXPECT_GE(differ, static_cast<int>(kept.size() / 2)) << "else the values cannot tell";
    on_every_target([&](std::int64_t target) {
      if (!fuses(target)) return;
      EXPECT_EQ(gemm_flushes_bf16(), target <= HWY_AVX3 && has_bf16_dot());
      for (const Layout layout : kLayouts) {
        EXPECT_TRUE(same_bits(run(p, layout), gemm_flushes_bf16() ? flushed : kept))
            << hwy::TargetName(target) << " " << s.m << " layout " << static_cast<int>(layout);
      }
    });
  }
}

TYPED_TEST(Gemm, TheOrderShowsInTheseValues) {
  // Else the tests here could not tell one order from another.
  const Problem<TypeParam> p(10, 10, 320);
  const auto y = run(p, Layout::kNT);
  int differ = 0;
  for (std::int64_t o = 0; o < p.m * p.n; ++o) {
    Acc<TypeParam> in_sequence = 0;
    for (std::int64_t k = 0; k < p.k; ++k) {
      in_sequence =
          std::fma(widen(p.a[o / p.n * p.k + k]), widen(p.w[o % p.n * p.k + k]), in_sequence);
    }
    const auto other = narrow<TypeParam>(in_sequence + widen(p.bias[o % p.n]));
    differ += bits_of(other) != bits_of(y[o]);
  }
  EXPECT_GE(differ, 30);
}

TYPED_TEST(Gemm, RowKeepsItsBitsInAnyBatchAndPositionOnEveryTarget) {
  on_every_target([](std::int64_t) {
    for (const std::int64_t k : {61, 160}) {
      for (const std::int64_t m : {2, 3, 5, 8, 31, 32, 33, 70}) {
        const Problem<TypeParam> p(m, 77, k, m);
        const auto whole = run(p, Layout::kNT, odd_threads, 3);
        EXPECT_TRUE(same_bits(run(p, Layout::kNN, one_by_one, 1), whole)) << m;
        EXPECT_TRUE(same_bits(run(p, Layout::kStrided, odd_threads, 2), whole)) << m;
        for (const std::int64_t i : {std::int64_t{0}, m / 2, m - 1}) {
          const std::vector<TypeParam> row(whole.begin() + i * p.n, whole.begin() + (i + 1) * p.n);
          for (const Layout layout : kLayouts) {
            EXPECT_TRUE(same_bits(run(row_of(p, i), layout), row)) << m << "@" << i;
          }
        }
      }
    }
  });
}

TYPED_TEST(Gemm, ColumnKeepsItsBitsInAnyWidth) {
  for (const std::int64_t m : {1, 3, 40}) {
    const Problem<TypeParam> p(m, 130, 90, 5);
    for (const Layout layout : kLayouts) {
      const auto whole = run(p, layout, odd_threads);
      for (const std::int64_t n : {1, 2, 5, 6, 23, 24, 64, 129}) {
        Problem<TypeParam> part = p;
        part.n = n;
        part.w.resize(n * p.k);
        part.bias.resize(n);
        const auto y = run(part, layout);
        for (std::int64_t i = 0; i < m; ++i) {
          EXPECT_EQ(std::memcmp(&y[i * n], &whole[i * p.n], n * sizeof(TypeParam)), 0) << n;
        }
      }
    }
  }
}

TYPED_TEST(Gemm, ThreadsAndAlignmentChangeNoBit) {
  const Problem<TypeParam> p(40, 300, 64, 9);
  for (const Layout layout : kLayouts) {
    const auto expected = run(p, layout);
    for (const std::int64_t offset : {1, 2, 3, 5, 8, 13}) {
      EXPECT_TRUE(same_bits(run(p, layout, odd_threads, offset), expected)) << offset;
      EXPECT_TRUE(same_bits(run(p, layout, one_by_one, offset), expected)) << offset;
    }
  }
}

}  // namespace
}  // namespace bic::cpu

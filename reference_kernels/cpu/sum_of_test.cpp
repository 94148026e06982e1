// Sums of sizes, squares and deviations, and products; sums of terms are in sum_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/kernel_testing.h"
#include "reference_kernels/cpu/naive.h"
#include "reference_kernels/cpu/sum.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

constexpr SumOf kKinds[] = {SumOf::kSizes, SumOf::kSquares, SumOf::kDeviations, SumOf::kFactors};

template <class T>
struct Result {
  std::vector<T> y, mean;
};

/// `rows` rows of n, contiguous or as columns.
template <class T>
Result<T> run(const std::vector<T>& x,
              std::int64_t rows,
              std::int64_t n,
              SumOf of,
              bool columns,
              const ParallelFor& parallel = serial) {
  SumArgs<T> g;
  std::vector<T> laid = x;
  if (columns) {
    for (std::int64_t i = 0; i < rows * n; ++i) laid[i % n * rows + i / n] = x[i];
    g.inner = rows, g.x_reduced = rows, g.x_inner = 1;
  } else {
    g.outer = rows, g.x_outer = n, g.y_outer = 1;
  }
  Result<T> result{std::vector<T>(rows), std::vector<T>(rows)};
  g.reduced = n, g.of = of, g.divisor = static_cast<double>(n) + 3, g.root = true;
  g.x = laid.data(), g.y = result.y.data(), g.mean = result.mean.data();
  sum(g, parallel);
  if (of != SumOf::kDeviations) result.mean.clear();
  return result;
}

/// sum.h, one scalar after the other.
template <class T>
Result<T> run_naive(const std::vector<T>& x, std::int64_t n, SumOf of) {
  using A = Acc<T>;
  Result<T> result;
  for (std::size_t first = 0; first < x.size(); first += n) {
    const bool multiplies = of == SumOf::kFactors;
    std::vector<A> wide, lane(16, A(multiplies));
    for (std::int64_t r = 0; r < n; ++r) wide.push_back(widen(x[first + r]));
    const A mean = naive::sum(wide) / static_cast<A>(n);
    for (std::int64_t r = 0; r < n; ++r) {
      const A factor = of == SumOf::kDeviations ? wide[r] - mean : wide[r];
      A& sum = lane[r % 16];
      sum = multiplies            ? sum * factor
            : of == SumOf::kSizes ? sum + std::abs(factor)
                                  : std::fma(factor, factor, sum);
    }
    A folded = naive::fold(lane);
    for (int half = multiplies ? 8 : 0; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lane[l] = lane[l] * lane[l + half];
      folded = lane[0];
    }
    result.y.push_back(narrow<T>(std::sqrt(folded / static_cast<A>(n + 3))));
    if (of == SumOf::kDeviations) result.mean.push_back(narrow<T>(mean));
  }
  return result;
}

template <class T>
class SumOfKind : public ::testing::Test {};
TYPED_TEST_SUITE(SumOfKind, Dtypes, DtypeName);

TYPED_TEST(SumOfKind, FollowsTheStatedOrderInEveryLayoutWhereThereIsFma) {
  for (const std::int64_t target : targets()) {
    if (!fuses(target)) continue;
    const OnTarget on(target);
    for (const SumOf of : kKinds) {
      for (const std::int64_t n : {1, 2, 15, 16, 17, 99, 1000}) {
        for (const std::int64_t rows : {1, 3, 17, 130}) {
          const auto x = random_values<TypeParam>(rows * n, n);
          const auto expected = run_naive(x, n, of);
          for (const bool columns : {false, true}) {
            const auto found = run(x, rows, n, of, columns);
            EXPECT_TRUE(same_bits(found.y, expected.y)) << rows << "x" << n << columns;
            EXPECT_TRUE(same_bits(found.mean, expected.mean)) << rows << "x" << n << columns;
          }
        }
      }
    }
  }
}

TYPED_TEST(SumOfKind, ThreadsAndLayoutChangeNoBitOnAnyTarget) {
  const std::int64_t rows = 300, n = 150;
  const auto x = random_values<TypeParam>(rows * n, 4);
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const SumOf of : kKinds) {
      const auto expected = run(x, rows, n, of, false);
      EXPECT_TRUE(same_bits(run(x, rows, n, of, false, odd_threads).y, expected.y));
      EXPECT_TRUE(same_bits(run(x, rows, n, of, true, one_by_one).y, expected.y));
    }
  }
}

TYPED_TEST(SumOfKind, NanIsCanonicalAndStaysInItsRow) {
  for (const SumOf of : kKinds) {
    auto x = random_values<TypeParam>(20 * 33, 2);
    const auto clean = run(x, 20, 33, of, false).y;
    x[5 * 33 + 32] = strange_nan<TypeParam>();
    for (const bool columns : {false, true}) {
      const auto y = run(x, 20, 33, of, columns).y;
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(bits_of(y[i]), i == 5 ? canonical_nan_bits<TypeParam>() : bits_of(clean[i]));
      }
    }
  }
}

TYPED_TEST(SumOfKind, AMeanThatOverflowsDoesNotSeeTheTail) {
  // Beyond the end there is nothing, not 0: its deviation from an infinite mean would be NaN.
  const auto largest = std::numeric_limits<Acc<TypeParam>>::max();
  const std::vector<TypeParam> x(17, narrow<TypeParam>(largest / 2));
  const auto rows = run(x, 1, 17, SumOf::kDeviations, false).y;
  EXPECT_TRUE(same_bits(rows, run(x, 1, 17, SumOf::kDeviations, true).y));
}

}  // namespace
}  // namespace bic::cpu

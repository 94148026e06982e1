#include "reference_kernels/cpu/cumsum.h"

#include <gtest/gtest.h>

#include "reference_kernels/cpu/kernel_testing.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

enum class Layout { kRows, kColumns, kStrided, kInnerRows };
constexpr Layout kLayouts[] = {
    Layout::kRows, Layout::kColumns, Layout::kStrided, Layout::kInnerRows};

/// Running sums of `rows` rows of n, laid out as asked; the result is [rows, n] again.
template <class T>
std::vector<T> run(const std::vector<T>& x,
                   std::int64_t rows,
                   std::int64_t n,
                   Layout layout,
                   const ParallelFor& parallel = serial,
                   std::int64_t offset = 0,
                   bool in_place = false) {
  CumsumArgs<T> g;
  g.reduced = n;
  std::int64_t row = n + offset, term = 1;
  if (layout == Layout::kColumns) row = 1, term = rows + offset;
  if (layout == Layout::kStrided) row = 2, term = 2 * rows + 1;
  (layout == Layout::kRows ? g.outer : g.inner) = rows;
  g.x_outer = g.y_outer = g.x_inner = g.y_inner = row;
  g.x_reduced = g.y_reduced = term;
  std::vector<T> laid(offset + (rows + 1) * row + (n + 1) * term, narrow<T>(Acc<T>(99)));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t r = 0; r < n; ++r) laid[offset + i * row + r * term] = x[i * n + r];
  }
  std::vector<T> out = laid;
  g.x = (in_place ? out : laid).data() + offset, g.y = out.data() + offset;
  cumsum(g, parallel);
  std::vector<T> y;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t r = 0; r < n; ++r) y.push_back(out[offset + i * row + r * term]);
  }
  return y;
}

/// cumsum.h, one scalar after the other.
template <class T>
std::vector<T> run_naive(const std::vector<T>& x, std::int64_t n) {
  std::vector<T> y;
  std::conditional_t<sizeof(T) == 2, float, double> sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum = (i % n == 0 ? 0 : sum) + widen(x[i]);
    y.push_back(narrow<T>(static_cast<Acc<T>>(sum)));
  }
  return y;
}

template <class T>
class Cumsum : public ::testing::Test {};
TYPED_TEST_SUITE(Cumsum, Dtypes, DtypeName);

TYPED_TEST(Cumsum, FollowsTheStatedOrderInEveryLayoutOnEveryTarget) {
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const std::int64_t n : {1, 2, 15, 128, 129, 300}) {
      for (const std::int64_t rows : {1, 3, 4, 15, 17, 130}) {
        const auto x = cancelling_rows<TypeParam>(rows, n, n);
        const auto expected = run_naive(x, n);
        for (const Layout layout : kLayouts) {
          EXPECT_TRUE(same_bits(run(x, rows, n, layout), expected))
              << rows << "x" << n << " layout " << static_cast<int>(layout);
        }
      }
    }
  }
}

TYPED_TEST(Cumsum, ThreadsAlignmentAndPlaceChangeNoBit) {
  const std::int64_t rows = 300, n = 150;
  const auto x = cancelling_rows<TypeParam>(rows, n, 4);
  const auto expected = run_naive(x, n);
  for (const Layout layout : kLayouts) {
    for (const std::int64_t offset : {0, 1, 7}) {
      EXPECT_TRUE(same_bits(run(x, rows, n, layout, odd_threads, offset), expected));
      EXPECT_TRUE(same_bits(run(x, rows, n, layout, one_by_one, offset, true), expected));
    }
  }
}

TYPED_TEST(Cumsum, NanIsCanonicalAndStaysInItsRow) {
  auto x = cancelling_rows<TypeParam>(9, 33, 2);
  const auto clean = run_naive(x, 33);
  x[5 * 33 + 20] = strange_nan<TypeParam>();
  for (const Layout layout : kLayouts) {
    const auto y = run(x, 9, 33, layout);
    for (int i = 0; i < 9 * 33; ++i) {
      const bool bad = i / 33 == 5 && i % 33 >= 20;
      EXPECT_EQ(bits_of(y[i]), bad ? canonical_nan_bits<TypeParam>() : bits_of(clean[i]));
    }
  }
}

TYPED_TEST(Cumsum, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  const auto x = random_values<TypeParam>(256 * 512, 3);
  for (const Layout layout : kLayouts) {
    TaskCounter small, large;
    run(x, 31, 1000, layout, small.parallel());
    run(x, 256, 512, layout, large.parallel());
    EXPECT_EQ(small.most, 0);
    EXPECT_GE(large.most, 2);
  }
}

}  // namespace
}  // namespace bic::cpu

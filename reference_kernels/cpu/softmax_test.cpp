#include "reference_kernels/cpu/softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/kernel_testing.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

enum class Layout { kRows, kColumns, kStrided };
constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kStrided};

/// Softmax of `rows` rows of n, laid out as asked; the result is [rows, n] again.
template <class T>
std::vector<T> run(const std::vector<T>& x,
                   std::int64_t rows,
                   std::int64_t n,
                   Layout layout,
                   const ParallelFor& parallel = serial,
                   std::int64_t offset = 0,
                   bool in_place = false) {
  SoftmaxArgs<T> g;
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
  softmax(g, parallel);
  std::vector<T> y;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t r = 0; r < n; ++r) y.push_back(out[offset + i * row + r * term]);
  }
  return y;
}

template <class T>
std::vector<T> part(const std::vector<T>& x, std::int64_t from, std::int64_t count) {
  return std::vector<T>(x.begin() + from, x.begin() + from + count);
}

template <class T>
class Softmax : public ::testing::Test {};
TYPED_TEST_SUITE(Softmax, Dtypes, DtypeName);

TYPED_TEST(Softmax, RowKeepsItsBitsInAnyBatchLayoutAndThreadOnEveryTarget) {
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const std::int64_t n : {1, 7, 16, 31, 65, 300}) {
      for (const std::int64_t rows : {2, 5, 33, 140}) {
        const auto x = random_values<TypeParam>(rows * n, n);
        const auto whole = run(x, rows, n, Layout::kRows);
        for (const Layout layout : kLayouts) {
          EXPECT_TRUE(same_bits(run(x, rows, n, layout, odd_threads, 3), whole));
          EXPECT_TRUE(same_bits(run(x, rows, n, layout, one_by_one, 1, true), whole));
          for (const std::int64_t i : {std::int64_t{0}, rows / 2, rows - 1}) {
            EXPECT_TRUE(same_bits(run(part(x, i * n, n), 1, n, layout), part(whole, i * n, n)));
          }
        }
      }
    }
  }
}

TYPED_TEST(Softmax, FusingTargetsAgree) {
  const auto x = random_values<TypeParam>(40 * 77, 3);
  const auto best = run(x, 40, 77, Layout::kRows);
  for (const std::int64_t target : targets()) {
    if (!fuses(target) || !fuses(targets().front())) continue;
    const OnTarget on(target);
    EXPECT_TRUE(same_bits(run(x, 40, 77, Layout::kRows), best)) << hwy::TargetName(target);
  }
}

TYPED_TEST(Softmax, ElementKeepsItsBitsInBodyAndTail) {
  // A permutation that keeps every index modulo 16 keeps the sum's order but moves body to tail.
  const std::int64_t n = 16 * 5 + 3;
  auto x = random_values<TypeParam>(n, 4);
  const TypeParam same = x[0];
  for (std::int64_t i = 0; i < n; ++i) x[i] = i % 16 < 3 ? same : x[i];
  const auto y = run(x, 1, n, Layout::kRows);
  for (std::int64_t i = 80; i < n; ++i) EXPECT_EQ(bits_of(y[i]), bits_of(y[0]));
}

TYPED_TEST(Softmax, ErrorStaysWithinItsBoundOnEveryTarget) {
  const std::int64_t rows = 30, n = 700;
  const auto x = random_values<TypeParam>(rows * n, 5);
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    const auto y = run(x, rows, n, Layout::kRows);
    for (std::int64_t i = 0; i < rows; ++i) {
      long double max = -INFINITY, sum = 0;
      for (std::int64_t r = 0; r < n; ++r) max = std::max<long double>(max, widen(x[i * n + r]));
      for (std::int64_t r = 0; r < n; ++r) sum += std::exp(widen(x[i * n + r]) - max);
      for (std::int64_t r = 0; r < n; ++r) {
        const long double shifted = widen(x[i * n + r]) - max, exact = std::exp(shifted) / sum;
        const double unit = std::is_same_v<TypeParam, double> ? 0x1p-53 : 0x1p-24;
        // The shift's rounding is a relative error |shifted| u of the exponential; exp is 3u off,
        // 5u so without fused multiply-add; the sum adds n / 16 + 4 roundings, the division one.
        const double relative = (2 * std::abs(static_cast<double>(shifted)) + 10 + n / 16) * unit;
        const double got = widen(y[i * n + r]);
        EXPECT_LE(std::abs(static_cast<double>(got - exact)),
                  relative * static_cast<double>(exact) + half_ulp<TypeParam>(got) * 1.01)
            << shifted;
      }
    }
  }
}

/// The wide types only: in 16 bits the exponential is the float one before a rounding.
template <class T>
class SoftmaxExponential : public ::testing::Test {};
using WideTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SoftmaxExponential, WideTypes, DtypeName);

TYPED_TEST(SoftmaxExponential, IsAtMostOneAndAHalfUlpOff) {
  // exp(x) against a row of {0, x}: y[1] / y[0] would round again, so x is far below 0, where the
  // sum is 1.
  using T = TypeParam;
  const bool wide = std::is_same_v<T, double>;
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    double worst = 0;
    for (int i = 0; i < 100000; ++i) {
      const Acc<T> x = static_cast<Acc<T>>(-(wide ? 37.5 : 17.5) - i * (wide ? 7.2e-3 : 8.7e-4));
      const auto y = run<T>({narrow<T>(0), narrow<T>(x)}, 1, 2, Layout::kRows);
      const long double exact = std::exp(static_cast<long double>(x));
      const double ulp =
          2 * half_ulp<T>(std::exp2(std::floor(std::log2(static_cast<double>(exact)))));
      worst = std::max(worst, std::abs(static_cast<double>(widen(y[1]) - exact)) / ulp);
    }
    EXPECT_LE(worst, fuses(target) ? 1.5 : 2.5) << hwy::TargetName(target);
    EXPECT_GT(worst, 0.4);  // no rounding is that good: nothing would have been measured
  }
}

TYPED_TEST(Softmax, NanAndInfiniteRowsAreCanonicalNan) {
  using T = TypeParam;
  const T inf = narrow<T>(std::numeric_limits<Acc<T>>::infinity()), low = narrow<T>(-widen(inf));
  for (const std::int64_t n : {5, 40}) {
    auto x = random_values<T>(5 * n, 6);
    const auto clean = run(x, 5, n, Layout::kRows);
    x[0 * n + n - 1] = strange_nan<T>();
    x[1 * n + 2] = inf;
    for (std::int64_t r = 0; r < n; ++r) x[2 * n + r] = low;
    x[3 * n + 1] = low;
    for (const Layout layout : kLayouts) {
      const auto y = run(x, 5, n, layout);
      for (std::int64_t i = 0; i < 3 * n; ++i) EXPECT_EQ(bits_of(y[i]), canonical_nan_bits<T>());
      EXPECT_EQ(bits_of(y[3 * n + 1]), 0u);
      EXPECT_TRUE(same_bits(part(y, 4 * n, n), part(clean, 4 * n, n)));
    }
  }
}

TYPED_TEST(Softmax, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  const auto x = random_values<TypeParam>(512 * 512, 3);
  for (const Layout layout : kLayouts) {
    TaskCounter small, large;
    run(x, 31, 1000, layout, small.parallel());
    run(x, 512, 512, layout, large.parallel());
    EXPECT_EQ(small.most, 0);
    EXPECT_GE(large.most, 16);
  }
}

}  // namespace
}  // namespace bic::cpu

// log_softmax and logsumexp, of softmax.h.
#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/kernel_testing.h"
#include "reference_kernels/cpu/softmax.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

/// `rows` rows of n: one after the other in memory or, when `columns`, side by side.
template <class T>
SoftmaxArgs<T> args_of(const T* x, T* y, std::int64_t rows, std::int64_t n, bool columns) {
  SoftmaxArgs<T> g;
  g.x = x, g.y = y, g.reduced = n;
  (columns ? g.inner : g.outer) = rows;
  g.x_outer = g.x_inner = g.y_outer = g.y_inner = columns ? 1 : n;
  g.x_reduced = g.y_reduced = columns ? rows : 1;
  return g;
}

/// [rows, n] to [n, rows].
template <class T>
std::vector<T> turned(const std::vector<T>& x, std::int64_t rows, std::int64_t n) {
  std::vector<T> y(x.size());
  for (std::int64_t i = 0; i < rows * n; ++i) y[i % n * rows + i / n] = x[i];
  return y;
}

/// Both results of [rows, n]: rows * n of log_softmax, then `rows` of logsumexp.
template <class T>
std::vector<T> run(const std::vector<T>& x,
                   std::int64_t rows,
                   std::int64_t n,
                   bool columns = false,
                   const ParallelFor& parallel = serial) {
  const std::vector<T> laid = columns ? turned(x, rows, n) : x;
  std::vector<T> y(x.size()), sums(rows);
  log_softmax(args_of(laid.data(), y.data(), rows, n, columns), parallel);
  auto g = args_of(laid.data(), sums.data(), rows, n, columns);
  g.y_outer = g.y_inner = 1;
  logsumexp(g, parallel);
  if (columns) y = turned(y, n, rows);
  y.insert(y.end(), sums.begin(), sums.end());
  return y;
}

template <class T>
class LogSoftmax : public ::testing::Test {};
TYPED_TEST_SUITE(LogSoftmax, Dtypes, DtypeName);

TYPED_TEST(LogSoftmax, RowKeepsItsBitsInAnyBatchLayoutAndThreadOnEveryTarget) {
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const std::int64_t n : {1, 7, 16, 65, 300}) {
      const std::int64_t rows = 140;
      const auto x = random_values<TypeParam>(rows * n, n);
      const auto whole = run(x, rows, n);
      for (const bool columns : {false, true}) {
        EXPECT_TRUE(same_bits(run(x, rows, n, columns, odd_threads), whole));
        for (const std::int64_t i : {std::int64_t{0}, rows / 2, rows - 1}) {
          const std::vector<TypeParam> row(x.begin() + i * n, x.begin() + (i + 1) * n);
          std::vector<TypeParam> expected(whole.begin() + i * n, whole.begin() + (i + 1) * n);
          expected.push_back(whole[rows * n + i]);
          EXPECT_TRUE(same_bits(run(row, 1, n, columns), expected));
        }
      }
    }
  }
}

TYPED_TEST(LogSoftmax, ErrorStaysWithinItsBoundOnEveryTarget) {
  const std::int64_t rows = 30, n = 700;
  const auto x = random_values<TypeParam>(rows * n, 5);
  const double unit = std::is_same_v<TypeParam, double> ? 0x1p-53 : 0x1p-24;
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    const auto y = run(x, rows, n);
    for (std::int64_t i = 0; i < rows; ++i) {
      long double max = -INFINITY, sum = 0, size = 0;
      for (std::int64_t r = 0; r < n; ++r) max = std::max<long double>(max, widen(x[i * n + r]));
      for (std::int64_t r = 0; r < n; ++r) {
        const long double d = widen(x[i * n + r]) - max, e = std::exp(d);
        sum += e, size += e * -d;
      }
      // Relative error of the sum: the shifts' roundings, exp's 5u, n / 16 + 4 additions; then the
      // roundings of logarithm, shift and result.
      const double log_error = (static_cast<double>(size / sum) + 9 + n / 16) * unit;
      const auto check = [&](TypeParam got, long double exact, double terms) {
        const double error = std::abs(static_cast<double>(widen(got) - exact));
        EXPECT_LE(error, log_error + terms * 2 * unit + half_ulp<TypeParam>(widen(got)) * 1.01);
      };
      const double log = static_cast<double>(std::log(sum)), top = static_cast<double>(max);
      check(y[rows * n + i], std::log(sum) + max, std::abs(log) + std::abs(top));
      for (std::int64_t r = 0; r < n; ++r) {
        const long double d = widen(x[i * n + r]) - max;
        check(y[i * n + r], d - std::log(sum), std::abs(log) + std::abs(static_cast<double>(d)));
      }
    }
  }
}

TYPED_TEST(LogSoftmax, NanAndInfinitiesAreThoseOfTheFormula) {
  using T = TypeParam;
  const T inf = narrow<T>(std::numeric_limits<Acc<T>>::infinity()), low = narrow<T>(-widen(inf));
  const std::uint64_t nan = canonical_nan_bits<T>();
  const std::int64_t n = 40;
  auto x = random_values<T>(4 * n, 6);
  x[0 * n + n - 1] = strange_nan<T>();
  x[1 * n + 2] = inf, x[1 * n + 3] = low;
  for (std::int64_t r = 0; r < n; ++r) x[2 * n + r] = low;
  x[3 * n + 1] = low;
  for (const bool columns : {false, true}) {
    const auto y = run(x, 4, n, columns);
    for (std::int64_t i = 0; i < 3 * n; ++i) EXPECT_EQ(bits_of(y[i]), nan);
    EXPECT_EQ(bits_of(y[3 * n + 1]), bits_of(low));
    EXPECT_EQ(bits_of(y[4 * n]), nan);
    EXPECT_EQ(bits_of(y[4 * n + 1]), bits_of(inf));
    EXPECT_EQ(bits_of(y[4 * n + 2]), bits_of(low));
    EXPECT_TRUE(std::isfinite(widen(y[4 * n + 3])));
  }
}

TYPED_TEST(LogSoftmax, SumOfNothingIsMinusInfinity) {
  TypeParam y[2] = {};
  auto g = args_of<TypeParam>(nullptr, y, 2, 0, false);
  g.y_outer = 1;
  logsumexp(g, serial);
  for (const TypeParam v : y) EXPECT_EQ(widen(v), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace bic::cpu

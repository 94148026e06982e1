#include "reference_kernels/cuda/softmax.h"

#include <algorithm>
#include <cmath>

#include "reference_kernels/cuda/row_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;            // NOLINT: the test's own vocabulary
using namespace bic::cpu::testing;  // NOLINT

enum class Op { kSoftmax, kLogSoftmax, kLogSum };
constexpr Op kOps[] = {Op::kSoftmax, Op::kLogSoftmax, Op::kLogSum};

/// `rows` rows of n, laid out as asked; the result is [rows, n] again, [rows] of a logsumexp.
template <class T>
std::vector<T> run(Op op,
                   const std::vector<T>& x,
                   std::int64_t rows,
                   std::int64_t n,
                   Layout layout,
                   std::int64_t offset = 0,
                   bool in_place = false) {
  cpu::SoftmaxArgs<T> g;
  LaidRows<T> laid(x, rows, n, layout, offset);
  laid.describe(g);
  const DeviceArray<T> input(laid.cells(), offset), output(laid.cells(), offset);
  g.x = (in_place ? output : input).data(), g.y = output.data();
  const TestLaunch launch;
  if (op == Op::kSoftmax) softmax(g, launch.get());
  if (op == Op::kLogSoftmax) log_softmax(g, launch.get());
  if (op == Op::kLogSum) logsumexp(g, launch.get());
  return laid.results(output.values(), op == Op::kLogSum ? 1 : n);
}

template <class T>
std::vector<T> part(const std::vector<T>& x, std::int64_t from, std::int64_t count) {
  return std::vector<T>(x.begin() + from, x.begin() + from + count);
}

template <class T>
class CudaSoftmax : public OnDeviceTest {};
TYPED_TEST_SUITE(CudaSoftmax, Dtypes, DtypeName);

TYPED_TEST(CudaSoftmax, RowKeepsItsBitsInAnyBatchLayoutAndPlace) {
  for (const Op op : kOps) {
    for (const std::int64_t n : {1, 31, 33, 255, 257, 512, 513, 1000, 2048, 2049, 4097}) {
      for (const std::int64_t rows : {2, 35}) {
        const auto x = random_values<TypeParam>(rows * n, n);
        const auto whole = run(op, x, rows, n, Layout::kRows);
        for (const Layout layout : kLayouts) {
          EXPECT_TRUE(same_bits(run(op, x, rows, n, layout, 3), whole)) << rows << "x" << n;
          EXPECT_TRUE(same_bits(run(op, x, rows, n, layout, 1, op != Op::kLogSum), whole));
        }
        for (const std::int64_t i : {std::int64_t{0}, rows / 2, rows - 1}) {
          const std::int64_t each = op == Op::kLogSum ? 1 : n;
          const auto alone = run(op, part(x, i * n, n), 1, n, Layout::kRows);
          EXPECT_TRUE(same_bits(alone, part(whole, i * each, each))) << rows << "x" << n;
        }
      }
    }
  }
}

TYPED_TEST(CudaSoftmax, MinusInfinityAppendedChangesNoBit) {
  const auto low = narrow<TypeParam>(-std::numeric_limits<Acc<TypeParam>>::infinity());
  for (const Op op : kOps) {
    for (const std::int64_t n : {43, 500, 3000}) {
      const auto x = random_values<TypeParam>(n, n);
      const auto expected = run(op, x, 1, n, Layout::kRows);
      for (const std::int64_t more : {1, 8, 61, 2048, 9000}) {
        auto longer = x;
        longer.resize(n + more, low);
        for (const Layout layout : kLayouts) {
          auto y = run(op, longer, 1, n + more, layout);
          y.resize(expected.size());
          EXPECT_TRUE(same_bits(y, expected)) << n << " and " << more;
        }
      }
    }
  }
}

/// Value and error of an output of the row whose maximum and sum are given.
struct Claim {
  long double exact, error;
};
Claim claim(Op op, long double x, long double max, long double sum, double n, double unit) {
  // The shift's rounding is a relative error |shifted| u of an exponential, exp is 2u off; an
  // element goes through at most n / 256 + 16 additions; logarithms turn relative errors of the sum
  // into absolute ones.
  const long double shifted = x - max, log = std::log(sum);
  const long double of_sum = (2 * 100 + 4 + n / 256 + 16) * unit;
  if (op == Op::kSoftmax) {
    const long double exact = std::exp(shifted) / sum;
    return {exact, (of_sum + (2 * std::abs(shifted) + 4) * unit) * exact};
  }
  if (op == Op::kLogSoftmax) {
    return {shifted - log, of_sum + 4 * unit * (std::abs(shifted) + std::abs(log))};
  }
  return {log + max, of_sum + 4 * unit * (std::abs(max) + std::abs(log))};
}

TYPED_TEST(CudaSoftmax, ErrorStaysWithinItsBound) {
  const double unit = std::is_same_v<TypeParam, double> ? 0x1p-53 : 0x1p-24;
  for (const Op op : kOps) {
    for (const std::int64_t n : {1, 7, 700, 5000}) {
      const std::int64_t rows = 5, each = op == Op::kLogSum ? 1 : n;
      const auto x = random_values<TypeParam>(rows * n, 5);
      const auto y = run(op, x, rows, n, Layout::kRows);
      for (std::int64_t i = 0; i < rows; ++i) {
        long double max = -INFINITY, sum = 0;
        for (std::int64_t r = 0; r < n; ++r) max = std::max<long double>(max, widen(x[i * n + r]));
        for (std::int64_t r = 0; r < n; ++r) sum += std::exp(widen(x[i * n + r]) - max);
        for (std::int64_t r = 0; r < each; ++r) {
          const Claim c = claim(op, widen(x[i * n + r]), max, sum, static_cast<double>(n), unit);
          const double got = widen(y[i * each + r]);
          EXPECT_LE(std::abs(static_cast<double>(got - c.exact)),
                    static_cast<double>(c.error) + half_ulp<TypeParam>(got) * 1.01)
              << static_cast<int>(op) << " " << n << " " << got;
        }
      }
    }
  }
}

TYPED_TEST(CudaSoftmax, NanAndInfiniteRowsAreCanonicalNan) {
  using T = TypeParam;
  const T inf = narrow<T>(std::numeric_limits<Acc<T>>::infinity()), low = narrow<T>(-widen(inf));
  for (const Op op : {Op::kSoftmax, Op::kLogSoftmax}) {
    for (const std::int64_t n : {5, 40, 3000}) {
      auto x = random_values<T>(9 * n, 6);
      const auto clean = run(op, x, 9, n, Layout::kRows);
      x[0 * n + n - 1] = strange_nan<T>();
      x[1 * n + 2] = inf;
      for (std::int64_t r = 0; r < n; ++r) x[2 * n + r] = low;
      x[3 * n + 1] = low;
      for (const Layout layout : kLayouts) {
        const auto y = run(op, x, 9, n, layout);
        for (std::int64_t i = 0; i < 3 * n; ++i) EXPECT_EQ(bits_of(y[i]), canonical_nan_bits<T>());
        EXPECT_EQ(bits_of(y[3 * n + 1]), op == Op::kSoftmax ? 0u : bits_of(low));
        EXPECT_TRUE(same_bits(part(y, 4 * n, 5 * n), part(clean, 4 * n, 5 * n)));
      }
    }
  }
}

TYPED_TEST(CudaSoftmax, LogsumexpOfInfinitiesIsTheLargest) {
  using T = TypeParam;
  const T inf = narrow<T>(std::numeric_limits<Acc<T>>::infinity()), low = narrow<T>(-widen(inf));
  for (const std::int64_t n : {5, 40, 3000}) {
    auto x = random_values<T>(9 * n, 6);
    x[0 * n + n - 1] = strange_nan<T>();
    x[0 * n + 1] = inf;
    x[1 * n + 2] = inf;
    x[1 * n + 3] = low;
    for (std::int64_t r = 0; r < 2 * n; ++r) x[2 * n + r] = low;
    x[3 * n + 1] = strange_nan<T>();
    for (const Layout layout : kLayouts) {
      const auto y = run(Op::kLogSum, x, 9, n, layout);
      EXPECT_EQ(bits_of(y[0]), canonical_nan_bits<T>());
      EXPECT_EQ(bits_of(y[1]), bits_of(inf));
      EXPECT_EQ(bits_of(y[2]), bits_of(low));
      EXPECT_EQ(bits_of(y[3]), canonical_nan_bits<T>());
    }
  }
}

TYPED_TEST(CudaSoftmax, OfNothingIsNothingAndItsLogsumexpMinusInfinity) {
  for (const Layout layout : kLayouts) {
    EXPECT_TRUE(run<TypeParam>(Op::kSoftmax, {}, 9, 0, layout).empty());
    for (const TypeParam v : run<TypeParam>(Op::kLogSum, {}, 9, 0, layout)) {
      EXPECT_EQ(widen(v), -std::numeric_limits<Acc<TypeParam>>::infinity());
    }
  }
}

}  // namespace
}  // namespace bic::cuda

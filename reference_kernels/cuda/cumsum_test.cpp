#include "reference_kernels/cuda/cumsum.h"

#include <algorithm>
#include <utility>

#include "reference_kernels/cuda/row_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;            // NOLINT: the test's own vocabulary
using namespace bic::cpu::testing;  // NOLINT

/// Running sums of `rows` rows of n, laid out as asked; the result is [rows, n] again.
template <class T>
std::vector<T> run(const std::vector<T>& x,
                   std::int64_t rows,
                   std::int64_t n,
                   Layout layout,
                   std::int64_t offset = 0,
                   bool in_place = false) {
  cpu::CumsumArgs<T> g;
  LaidRows<T> laid(x, rows, n, layout, offset);
  laid.describe(g);
  const DeviceArray<T> input(laid.cells(), offset), output(laid.cells(), offset);
  g.x = (in_place ? output : input).data(), g.y = output.data();
  const TestLaunch launch;
  cumsum(g, launch.get());
  return laid.results(output.values(), n);
}

template <class T>
using Running = std::conditional_t<sizeof(T) == 2, float, double>;

/// cumsum.h's t of a tile, bit after bit.
template <class R>
void scan_tile(R* t, std::int64_t count) {
  for (int d = 0; d < 11; ++d) {
    for (std::int64_t p = 0; p < count; ++p) {
      if (p >> d & 1) t[p] = t[(p >> d << d) - 1] + t[p];
    }
  }
}

/// cumsum.h, one row after the other.
template <class T>
std::vector<T> run_naive(const std::vector<T>& x, std::int64_t n) {
  using R = Running<T>;
  std::vector<T> y;
  for (std::size_t row = 0; row < x.size(); row += n) {
    std::vector<R> sums;
    for (std::int64_t i = 0; i < n; ++i) sums.push_back(widen(x[row + i]));
    R carry = 0;
    for (std::int64_t first = 0; first < n; first += 2048) {
      const std::int64_t end = std::min<std::int64_t>(n, first + 2048);
      scan_tile(sums.data() + first, end - first);
      for (std::int64_t i = first; i < end; ++i) sums[i] = carry + sums[i];
      carry = sums[end - 1];
    }
    for (const R sum : sums) y.push_back(narrow<T>(static_cast<Acc<T>>(sum)));
  }
  return y;
}

template <class T>
class CudaCumsum : public OnDeviceTest {};
TYPED_TEST_SUITE(CudaCumsum, Dtypes, DtypeName);

TYPED_TEST(CudaCumsum, FollowsTheStatedOrderInEveryLayout) {
  for (const std::int64_t n : {1, 2, 31, 33, 255, 256, 257, 1000, 2048, 2049, 4097, 12345}) {
    for (const std::int64_t rows : {1, 3, 17}) {
      const auto x = cancelling_rows<TypeParam>(rows, n, n);
      const auto expected = run_naive(x, n);
      for (const Layout layout : kLayouts) {
        EXPECT_TRUE(same_bits(run(x, rows, n, layout), expected))
            << rows << "x" << n << " layout " << static_cast<int>(layout);
      }
    }
  }
}

TYPED_TEST(CudaCumsum, ManyRowsAndColumnsKeepTheBits) {
  // 9000: a thread to a column; 300: a block to a row; fewer: one to a tile.
  for (const auto& [rows, n] : {std::pair{9000, 70}, {9000, 1}, {300, 10300}, {2, 600000}}) {
    const auto x = cancelling_rows<TypeParam>(rows, n, n);
    const auto expected = run_naive(x, n);
    for (const Layout layout : kLayouts) {
      EXPECT_TRUE(same_bits(run(x, rows, n, layout), expected)) << rows << "x" << n;
    }
  }
}

TYPED_TEST(CudaCumsum, LongColumnsKeepTheBits) {
  const std::int64_t rows = 8192, n = 2100;
  const auto some = cancelling_rows<TypeParam>(8, n, 3);
  std::vector<TypeParam> x;
  for (std::int64_t i = 0; i < rows; i += 8) x.insert(x.end(), some.begin(), some.end());
  const auto expected = run_naive(some, n);
  const auto y = run(x, rows, n, Layout::kColumns);
  for (std::int64_t i = 0; i < rows * n; i += 8 * n) {
    ASSERT_TRUE(same_bits({y.begin() + i, y.begin() + i + 8 * n}, expected)) << i;
  }
}

TYPED_TEST(CudaCumsum, AddressAndPlaceChangeNoBit) {
  const std::int64_t rows = 30, n = 2500;
  const auto x = cancelling_rows<TypeParam>(rows, n, 4);
  const auto expected = run_naive(x, n);
  for (const Layout layout : kLayouts) {
    for (const std::int64_t offset : {0, 1, 7}) {
      EXPECT_TRUE(same_bits(run(x, rows, n, layout, offset), expected));
      EXPECT_TRUE(same_bits(run(x, rows, n, layout, offset, true), expected));
    }
  }
}

TYPED_TEST(CudaCumsum, APrefixDoesNotSeeWhatFollows) {
  const auto x = cancelling_rows<TypeParam>(1, 20000, 4);
  const auto whole = run(x, 1, 20000, Layout::kRows);
  for (const std::int64_t n : {1, 33, 255, 257, 1000, 4097, 19999}) {
    const auto y = run<TypeParam>({x.begin(), x.begin() + n}, 1, n, Layout::kRows);
    EXPECT_TRUE(same_bits(y, {whole.begin(), whole.begin() + n})) << n;
  }
}

TYPED_TEST(CudaCumsum, NanIsCanonicalAndStaysInItsRow) {
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

TYPED_TEST(CudaCumsum, OfNegativeZerosIsPlusZeroAndOfNothingNothing) {
  const std::vector<TypeParam> x(3 * 40, narrow<TypeParam>(Acc<TypeParam>(-0.0)));
  for (const Layout layout : kLayouts) {
    for (const TypeParam v : run(x, 3, 40, layout)) EXPECT_EQ(bits_of(v), 0u);
    EXPECT_TRUE(run<TypeParam>({}, 3, 0, layout).empty());
  }
}

}  // namespace
}  // namespace bic::cuda

// The bits of gemm_lt, and everything that must not change them.
#include "reference_kernels/cuda/gemm_lt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference_kernels/cuda/gemm_lt_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

bool is_hopper() {
  int major = 0, device = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major == 9;
}

/// Skips where no product of the type is served; on Hopper each is.
template <class T>
class GemmLt : public OnDeviceTest {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (this->IsSkipped()) return;
    const bool served = !run(Product<T>(1, 16, 8)).empty();
    ASSERT_TRUE(served || !is_hopper());
    if (!served) GTEST_SKIP() << "no verified class on this device";
  }
};
using Narrow = ::testing::Types<hwy::bfloat16_t, hwy::float16_t>;
TYPED_TEST_SUITE(GemmLt, Narrow, cpu::testing::DtypeName);

struct Extents {
  std::int64_t m, n, k, batch;
};
constexpr Extents kExtents[] = {{1, 1, 1, 1},
                                {1, 16, 8, 1},
                                {5, 7, 61, 1},
                                {1, 2048, 2048, 1},
                                {33, 281, 256, 3},
                                {257, 72, 281, 2},
                                {40, 136, 4304, 1},
                                {9, 72, 6200, 1}};

TYPED_TEST(GemmLt, ValuesAreWithinTheBound) {
  for (const Extents& e : kExtents) {
    const Product<TypeParam> p(e.m, e.n, e.k, e.batch);
    for (const bool nt : {true, false}) {
      const auto y = run(p, {.nt = nt});
      ASSERT_EQ(y.size(), static_cast<std::size_t>(e.batch * e.m * e.n));
      for (std::size_t o = 0; o < y.size(); o += 1 + y.size() / 500) {
        const double exact = p.sum(o, false), size = p.sum(o, true);
        const double bound = (e.k + 4) * 0x1p-23 * size;
        EXPECT_LE(std::abs(widen(y[o]) - exact),
                  bound + cpu::testing::half_ulp<TypeParam>(std::abs(exact) + bound))
            << e.m << "x" << e.n << "x" << e.k << " [" << o << "]";
      }
    }
  }
}

constexpr std::pair<std::int64_t, std::int64_t> kWidths[] = {
    {520, 4304}, {64, 2048}, {256, 72}, {17, 281}, {1, 40}};  // n, k
constexpr std::pair<std::int64_t, std::int64_t> kParts[] = {
    {0, 1}, {1, 2}, {29, 7}, {3, 33}, {500, 256}};  // first row, count

TYPED_TEST(GemmLt, RowKeepsItsBitsInAnyBatchAndPosition) {
  for (const auto& [n, k] : kWidths) {
    const Product<TypeParam> p(1030, n, k);
    for (const Bias bias : {Bias::kNone, Bias::kRow}) {
      const auto all = run(p, {.bias = bias});
      for (const auto& [first, count] : kParts) {
        auto part = rows_of(p, first, count);
        part.bias = p.bias;
        const std::vector<TypeParam> expected(all.begin() + first * n,
                                              all.begin() + (first + count) * n);
        EXPECT_TRUE(same_bits(run(part, {.bias = bias}), expected))
            << n << "x" << k << " rows " << first << "+" << count;
      }
    }
  }
}

constexpr Extents kLaid[] = {{9, 64, 136, 2}, {33, 40, 61, 2}, {1, 256, 1024, 2}};
constexpr Lie kLies[] = {
    {}, {.gap = 8, .offset = 8}, {.gap = 1}, {.offset = 3}, {.gap = 5, .offset = 7}, {.step = 3}};

TYPED_TEST(GemmLt, LayoutAndAlignmentChangeNoBit) {
  for (const Extents& e : kLaid) {
    const Product<TypeParam> p(e.m, e.n, e.k, e.batch);
    for (const Bias bias : {Bias::kNone, Bias::kRow}) {
      const auto expected = run(p, {.bias = bias});
      for (const bool nt : {true, false}) {
        for (Lie lie : kLies) {
          lie.nt = nt, lie.bias = bias;
          EXPECT_TRUE(same_bits(run(p, lie), expected))
              << e.m << "x" << e.n << "x" << e.k << " nt " << nt << " gap " << lie.gap << " offset "
              << lie.offset << " step " << lie.step;
        }
      }
    }
  }
}

TYPED_TEST(GemmLt, ZerosAppendedToKChangeNoBit) {
  for (const std::int64_t k : {1, 5, 8, 61, 72, 256, 281, 1152, 2040}) {
    for (const std::int64_t m : {1, 300}) {
      const Product<TypeParam> p(m, 72, k);
      const auto expected = run(p);
      for (const std::int64_t zeros : {1, 8, 61}) {
        EXPECT_TRUE(same_bits(run(longer(p, zeros)), expected)) << m << " " << k << "+" << zeros;
        EXPECT_TRUE(same_bits(run(longer(p, zeros), {.nt = false}), expected));
      }
    }
  }
}

TYPED_TEST(GemmLt, ColumnKeepsItsBitsInAnyWidth) {
  // A vector times a matrix of samples has the batch there.
  const std::int64_t m = 5, wide = 400;
  const Product<TypeParam> p(m, wide, 264);
  const auto all = run(p);
  for (const std::int64_t n : {1, 7, 8, 15, 16, 24, 281}) {
    Product<TypeParam> part = p;
    part.n = n;
    part.w.resize(n * p.k);
    std::vector<TypeParam> expected;
    for (std::int64_t o = 0; o < m * n; ++o) expected.push_back(all[o / n * wide + o % n]);
    EXPECT_TRUE(same_bits(run(part), expected)) << n;
    EXPECT_TRUE(same_bits(run(part, {.nt = false}), expected)) << n;
  }
}

TYPED_TEST(GemmLt, MatrixKeepsItsBitsInAnyStack) {
  const Product<TypeParam> p(17, 72, 136, 40);
  const auto all = run(p);
  for (const std::int64_t b : {0, 7, 39}) {
    Product<TypeParam> one = p;
    one.batch = 1;
    one.a.assign(p.a.begin() + b * p.m * p.k, p.a.begin() + (b + 1) * p.m * p.k);
    one.w.assign(p.w.begin() + b * p.n * p.k, p.w.begin() + (b + 1) * p.n * p.k);
    const std::vector<TypeParam> expected(all.begin() + b * p.m * p.n,
                                          all.begin() + (b + 1) * p.m * p.n);
    EXPECT_TRUE(same_bits(run(one), expected)) << b;
  }
}

TYPED_TEST(GemmLt, BiasOfEveryRowGivesTheBitsOfOneRow) {
  // The library adds the one row itself; a matrix is added after it.
  Product<TypeParam> p(50, 128, 264);
  const auto direct = run(p, {.bias = Bias::kRow});
  for (std::int64_t o = p.n; o < p.m * p.n; ++o) p.bias[o] = p.bias[o % p.n];
  EXPECT_TRUE(same_bits(run(p, {.bias = Bias::kFull}), direct));
}

TYPED_TEST(GemmLt, FactorsAreAppliedBeforeTheOneRounding) {
  const Product<TypeParam> p(20, 48, 40);
  const Lie lie{.bias = Bias::kFull, .alpha = 0.8, .beta = -1.3};
  const auto y = run(p, lie);
  for (std::size_t o = 0; o < y.size(); ++o) {
    const double b = lie.beta * widen(p.bias[o]), exact = lie.alpha * p.sum(o, false) + b;
    const double bound = (p.k + 8) * 0x1p-23 * (lie.alpha * p.sum(o, true) + std::abs(b));
    EXPECT_LE(std::abs(widen(y[o]) - exact),
              bound + cpu::testing::half_ulp<TypeParam>(std::abs(exact) + bound))
        << o;
  }
  for (std::int64_t i = 0; i < p.m; i += 7) {
    const std::vector<TypeParam> expected(y.begin() + i * p.n, y.begin() + (i + 1) * p.n);
    EXPECT_TRUE(same_bits(run(rows_of(p, i, 1), lie), expected)) << i;
  }
}

TYPED_TEST(GemmLt, NoSumIsMinusZeroAndEveryNaNIsOne) {
  const float inf = std::numeric_limits<float>::infinity();
  Product<TypeParam> p(3, 16, 64);
  const auto is = [](float x) { return cpu::testing::narrow<TypeParam>(x); };
  for (std::int64_t i = 0; i < p.k; ++i) p.a[i] = is(-0.0f);
  p.a[p.k + 5] = is(inf), p.w[5] = is(0.0f), p.a[2 * p.k] = cpu::testing::strange_nan<TypeParam>();
  for (const Lie& lie : {Lie{}, Lie{.nt = false}, Lie{.offset = 1}}) {
    const auto y = run(p, lie);
    for (std::int64_t j = 0; j < p.n; ++j) {
      EXPECT_EQ(bits_of(y[j]), 0u);
      EXPECT_EQ(bits_of(y[2 * p.n + j]), 0x7FFFu);
      const auto times_infinity = y[p.n + j];
      EXPECT_EQ(j == 0, bits_of(times_infinity) == 0x7FFF) << "only column 0 has a 0 there";
      EXPECT_EQ(j != 0, std::abs(widen(times_infinity)) == inf);
    }
  }
}

}  // namespace
}  // namespace bic::cuda

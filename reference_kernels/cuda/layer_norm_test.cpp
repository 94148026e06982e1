#include "reference_kernels/cuda/layer_norm.h"

#include <cmath>

#include "reference_kernels/cuda/cuda_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;       // NOLINT: the test's own vocabulary
using namespace cpu::testing;  // NOLINT: likewise
using cpu::LayerNormArgs;

template <class T>
struct Normed {
  std::vector<T> y, mean, rstd;
};

template <class T>
struct Rows {
  std::int64_t rows, h, groups, inner;
  std::vector<T> x, weight, bias;
  bool center = true;
  Rows(std::int64_t rows, std::int64_t h, std::int64_t groups = 1, std::int64_t inner = 1)
      : rows(rows),
        h(h),
        groups(groups),
        inner(inner),
        x(random_values<T>(rows * h, 100 + h)),
        weight(random_values<T>(groups * (h / inner), 200 + h)),
        bias(random_values<T>(groups * (h / inner), 300 + h)) {}

  /// Row r, with the weights that it has in the batch if there is one group.
  Rows alone(std::int64_t r) const {
    Rows one = *this;
    one.rows = 1;
    one.x.assign(&x[r * h], &x[r * h] + h);
    return one;
  }
};

/// Rows lie `gap` elements apart, all arrays `offset` elements from an aligned address.
template <class T>
Normed<T> run(const Rows<T>& p, std::int64_t offset = 0, std::int64_t gap = 0) {
  const TestLaunch launch;
  const std::int64_t row = p.h + gap;
  std::vector<T> spread(p.rows * row, narrow<T>(Acc<T>(99)));
  for (std::int64_t r = 0; r < p.rows; ++r) std::copy_n(&p.x[r * p.h], p.h, &spread[r * row]);
  const DeviceArray<T> x(spread, offset), y(spread, offset), weight(p.weight, offset),
      bias(p.bias, offset), mean(std::vector<T>(p.rows)), rstd(std::vector<T>(p.rows));
  LayerNormArgs<T> g{x.data(),
                     p.weight.empty() ? nullptr : weight.data(),
                     p.bias.empty() ? nullptr : bias.data(),
                     y.data(),
                     mean.data(),
                     rstd.data()};
  g.rows = p.rows, g.h = p.h, g.x_row = g.y_row = row;
  g.center = p.center, g.groups = p.groups, g.inner = p.inner;
  layer_norm(g, launch.get());
  Normed<T> n{{}, mean.values(), rstd.values()};
  const auto all = y.values();
  for (std::int64_t r = 0; r < p.rows; ++r) {
    n.y.insert(n.y.end(), &all[r * row], &all[r * row] + p.h);
    for (std::int64_t i = p.h; i < row; ++i)
      EXPECT_EQ(bits_of(all[r * row + i]), bits_of(spread[r * row + i]));
  }
  return n;
}

/// layer_norm.h, one scalar after the other.
template <class T, class F>
Acc<T> sum_in_order(std::int64_t h, F add) {
  constexpr std::int64_t kLanes = 256, kNeighbours = 16 / sizeof(T);
  std::vector<Acc<T>> lane(kLanes, Acc<T>(0));
  for (std::int64_t i = 0; i < h; ++i) {
    Acc<T>& l = lane[i / kNeighbours % kLanes];
    l = add(i, l);
  }
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  }
  return lane[0];
}

template <class T>
Normed<T> run_naive(const Rows<T>& p) {
  using A = Acc<T>;
  Normed<T> n;
  const A h = static_cast<A>(p.h);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const auto x = [&](std::int64_t i) { return widen(p.x[r * p.h + i]); };
    const A sum = sum_in_order<T>(p.h, [&](std::int64_t i, A lane) { return lane + x(i); });
    const A mean = p.center ? sum / h : A(0);
    const A squares = sum_in_order<T>(p.h, [&](std::int64_t i, A lane) {
      const A d = x(i) - mean;
      return std::fma(d, d, lane);
    });
    const A rstd = A(1) / std::sqrt(squares / h + static_cast<A>(1e-5));
    n.mean.push_back(narrow<T>(mean));
    n.rstd.push_back(narrow<T>(rstd));
    for (std::int64_t i = 0; i < p.h; ++i) {
      const A t = (x(i) - mean) * rstd;
      const std::int64_t c = r % p.groups * (p.h / p.inner) + i / p.inner;
      const A w = p.weight.empty() ? A(1) : widen(p.weight[c]);
      n.y.push_back(narrow<T>(p.bias.empty() ? t * w : std::fma(t, w, widen(p.bias[c]))));
    }
  }
  return n;
}

template <class T>
void expect_same(const Normed<T>& got, const Normed<T>& expected) {
  EXPECT_TRUE(same_bits(got.y, expected.y));
  EXPECT_TRUE(same_bits(got.mean, expected.mean));
  EXPECT_TRUE(same_bits(got.rstd, expected.rstd));
}

template <class T>
class CudaLayerNorm : public OnDeviceTest {};
TYPED_TEST_SUITE(CudaLayerNorm, Dtypes, DtypeName);

TYPED_TEST(CudaLayerNorm, FollowsTheStatedOrder) {
  for (const std::int64_t h : {0, 1, 31, 33, 72, 255, 257, 1000, 1152, 2048, 4097, 9001, 20000}) {
    for (int form = 0; form < 8; ++form) {
      Rows<TypeParam> p(5, h);
      if (!(form & 1)) p.weight.clear();
      if (!(form & 2)) p.bias.clear();
      p.center = form & 4;
      SCOPED_TRACE(std::to_string(h) + " form " + std::to_string(form));
      expect_same(run(p), run_naive(p));
    }
  }
}

TYPED_TEST(CudaLayerNorm, ManyRowsFollowTheStatedOrder) {
  for (const std::int64_t h : {33, 257, 511, 1152}) {
    SCOPED_TRACE(h);
    const Rows<TypeParam> p(1100, h);
    expect_same(run(p), run_naive(p));
  }
}

TYPED_TEST(CudaLayerNorm, GroupsShareWeightsAsStated) {
  for (const std::int64_t inner : {2, 5, 63, 256}) {
    for (const std::int64_t channels : {1, 3, 40}) {
      SCOPED_TRACE(std::to_string(channels) + " of " + std::to_string(inner));
      const Rows<TypeParam> p(8, channels * inner, 4, inner);
      expect_same(run(p), run_naive(p));
    }
  }
  const Rows<TypeParam> flat(6, 37, 3);
  expect_same(run(flat), run_naive(flat));
}

TYPED_TEST(CudaLayerNorm, RowKeepsItsBitsInAnyBatch) {
  for (const std::int64_t h : {72, 256, 509, 1152}) {
    SCOPED_TRACE(h);
    const Rows<TypeParam> p(1500, h);
    const auto whole = run(p);
    for (const std::int64_t r : {0, 1, 750, 1499}) {
      const auto alone = run(p.alone(r));
      EXPECT_EQ(std::memcmp(alone.y.data(), &whole.y[r * h], h * sizeof(TypeParam)), 0) << r;
      EXPECT_EQ(bits_of(alone.mean[0]), bits_of(whole.mean[r]));
      EXPECT_EQ(bits_of(alone.rstd[0]), bits_of(whole.rstd[r]));
    }
  }
}

TYPED_TEST(CudaLayerNorm, AddressesAndStridesChangeNoBit) {
  for (const std::int64_t h : {40, 1152, 4096, 20000}) {
    SCOPED_TRACE(h);
    const Rows<TypeParam> p(3, h);
    const auto dense = run(p);
    expect_same(run(p, 1), dense);
    expect_same(run(p, 0, 3), dense);
    expect_same(run(p, 3, 16), dense);
  }
}

TYPED_TEST(CudaLayerNorm, ErrorStaysSmall) {
  const std::int64_t h = 4097;
  Rows<TypeParam> p(3, h);
  p.weight.clear(), p.bias.clear();
  const auto n = run(p);
  const double unit = std::is_same_v<TypeParam, double> ? 0x1p-53 : 0x1p-24;
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const auto x = [&](std::int64_t i) { return static_cast<long double>(widen(p.x[r * h + i])); };
    long double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < h; ++i) mean += x(i) / h;
    for (std::int64_t i = 0; i < h; ++i) variance += (x(i) - mean) * (x(i) - mean) / h;
    for (std::int64_t i = 0; i < h; ++i) {
      const long double t = (x(i) - mean) / std::sqrt(variance + 1e-5L);
      const double got = widen(n.y[r * h + i]);
      // An element goes through 17 + 8 sums at most, then through a few operations.
      EXPECT_LE(std::abs(got - t), 40 * unit * (1 + std::abs(t)) + half_ulp<TypeParam>(got) * 1.01);
    }
  }
}

TYPED_TEST(CudaLayerNorm, NanIsCanonicalAndStaysInItsRow) {
  Rows<TypeParam> p(4, 37);
  const auto clean = run(p);
  p.x[1 * 37 + 36] = strange_nan<TypeParam>();
  p.x[2 * 37 + 5] = narrow<TypeParam>(std::numeric_limits<Acc<TypeParam>>::infinity());
  const auto n = run(p);
  for (int i = 0; i < 4 * 37; ++i) {
    const bool bad = i / 37 == 1 || i / 37 == 2;
    EXPECT_EQ(bits_of(n.y[i]), bad ? canonical_nan_bits<TypeParam>() : bits_of(clean.y[i]));
  }
  EXPECT_EQ(bits_of(n.mean[1]), canonical_nan_bits<TypeParam>());
  EXPECT_EQ(bits_of(n.rstd[1]), canonical_nan_bits<TypeParam>());
}

}  // namespace
}  // namespace bic::cuda

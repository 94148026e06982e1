#include "reference_kernels/cpu/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/kernel_testing.h"
#include "reference_kernels/cpu/naive.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

template <class T>
struct Normed {
  std::vector<T> y, mean, rstd;
};

template <class T>
struct Rows {
  std::int64_t rows, h;
  std::vector<T> x, weight, bias;
  Rows(std::int64_t rows, std::int64_t h, std::uint64_t seed)
      : rows(rows),
        h(h),
        x(random_values<T>(rows * h, seed)),
        weight(random_values<T>(h, seed + 1)),
        bias(random_values<T>(h, seed + 2)) {}
};

template <class T>
Normed<T> run(const Rows<T>& p, const ParallelFor& parallel = serial, std::int64_t offset = 0) {
  const std::int64_t row = p.h + offset;
  std::vector<T> x(offset + (p.rows + 1) * row, narrow<T>(Acc<T>(99))), y = x;
  for (std::int64_t i = 0; i < p.rows; ++i) std::copy_n(&p.x[i * p.h], p.h, &x[offset + i * row]);
  Normed<T> n{{}, std::vector<T>(p.rows), std::vector<T>(p.rows)};
  LayerNormArgs<T> g{x.data() + offset,
                     p.weight.empty() ? nullptr : p.weight.data(),
                     p.bias.empty() ? nullptr : p.bias.data(),
                     y.data() + offset,
                     n.mean.data(),
                     n.rstd.data()};
  g.rows = p.rows, g.h = p.h, g.x_row = g.y_row = row;
  layer_norm(g, parallel);
  for (std::int64_t i = 0; i < p.rows; ++i) {
    n.y.insert(n.y.end(), &y[offset + i * row], &y[offset + i * row] + p.h);
  }
  return n;
}

template <class T>
Normed<T> run_naive(const Rows<T>& p) {
  Normed<T> n;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const std::vector<T> x(&p.x[i * p.h], &p.x[i * p.h] + p.h);
    const auto row = naive::layer_norm(x, p.weight, p.bias, 1e-5);
    n.y.insert(n.y.end(), row.y.begin(), row.y.end());
    n.mean.push_back(row.mean);
    n.rstd.push_back(row.rstd);
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
class LayerNorm : public ::testing::Test {};
TYPED_TEST_SUITE(LayerNorm, Dtypes, DtypeName);

TYPED_TEST(LayerNorm, FollowsTheStatedOrderOnEveryFusingTarget) {
  for (const std::int64_t h : {1, 3, 16, 17, 47, 64, 500}) {
    for (int affine = 0; affine < 4; ++affine) {
      Rows<TypeParam> p(9, h, h);
      if (!(affine & 1)) p.weight.clear();
      if (!(affine & 2)) p.bias.clear();
      for (const std::int64_t target : targets()) {
        if (!fuses(target)) continue;
        const OnTarget on(target);
        expect_same(run(p), run_naive(p));
      }
    }
  }
}

TYPED_TEST(LayerNorm, RowKeepsItsBitsInAnyBatchAndThreadOnEveryTarget) {
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const std::int64_t h : {33, 256}) {
      const Rows<TypeParam> p(301, h, 7);
      const auto whole = run(p);
      expect_same(run(p, odd_threads, 3), whole);
      expect_same(run(p, one_by_one, 1), whole);
      for (const std::int64_t i : {0, 150, 300}) {
        Rows<TypeParam> one = p;
        one.rows = 1;
        one.x.assign(&p.x[i * h], &p.x[i * h] + h);
        const auto alone = run(one, serial, 5);
        EXPECT_EQ(std::memcmp(alone.y.data(), &whole.y[i * h], h * sizeof(TypeParam)), 0);
        EXPECT_EQ(bits_of(alone.mean[0]), bits_of(whole.mean[i]));
        EXPECT_EQ(bits_of(alone.rstd[0]), bits_of(whole.rstd[i]));
      }
    }
  }
}

TYPED_TEST(LayerNorm, ErrorStaysWithinItsBoundOnEveryTarget) {
  const Rows<TypeParam> p(20, 600, 5);
  const double unit = std::is_same_v<TypeParam, double> ? 0x1p-53 : 0x1p-24;
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    const auto n = run(p);
    for (std::int64_t i = 0; i < p.rows; ++i) {
      long double mean = 0, size = 0, variance = 0;
      for (std::int64_t r = 0; r < p.h; ++r) mean += widen(p.x[i * p.h + r]);
      mean /= p.h;
      for (std::int64_t r = 0; r < p.h; ++r) {
        const long double d = widen(p.x[i * p.h + r]) - mean;
        size += std::abs(static_cast<long double>(widen(p.x[i * p.h + r])));
        variance += d * d;
      }
      const long double rstd = 1 / std::sqrt(variance / p.h + 1e-5L);
      // gamma of the mean's sum, and of the variance's (whose terms carry three roundings more).
      const long double terms = p.h / 16 + 6, mean_error = terms * unit * size / p.h;
      for (std::int64_t r = 0; r < p.h; ++r) {
        const long double t = (widen(p.x[i * p.h + r]) - mean) * rstd, w = widen(p.weight[r]),
                          b = widen(p.bias[r]);
        const long double error =
            std::abs(w) * (mean_error * rstd + std::abs(t) * (terms / 2 + 8) * unit) +
            (std::abs(t * w) + std::abs(b)) * 2 * unit;
        const double got = widen(n.y[i * p.h + r]);
        EXPECT_LE(std::abs(got - t * w - b), error + half_ulp<TypeParam>(got) * 1.01);
      }
    }
  }
}

TYPED_TEST(LayerNorm, NanIsCanonicalAndStaysInItsRow) {
  Rows<TypeParam> p(4, 37, 2);
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

TYPED_TEST(LayerNorm, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  TaskCounter small, large;
  run(Rows<TypeParam>(31, 1000, 1), small.parallel());
  run(Rows<TypeParam>(64, 4096, 1), large.parallel());
  EXPECT_EQ(small.most, 0);
  EXPECT_GE(large.most, 16);
}

}  // namespace
}  // namespace bic::cpu

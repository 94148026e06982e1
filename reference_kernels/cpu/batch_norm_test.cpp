#include "reference_kernels/cpu/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/kernel_testing.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

/// x is [outer, channels, inner].
template <class T>
struct Problem {
  std::int64_t outer, channels, inner;
  std::vector<T> x = random_values<T>(outer * channels * inner, 1);
  std::vector<T> mean = random_values<T>(channels, 2);
  std::vector<T> variance = random_values<T>(channels, 3);
  std::vector<T> weight = random_values<T>(channels, 4);
  std::vector<T> bias = random_values<T>(channels, 5);
  Problem(std::int64_t o, std::int64_t c, std::int64_t i) : outer(o), channels(c), inner(i) {
    for (T& v : variance) v = narrow<T>(std::abs(widen(v)));
  }
};

template <class T>
std::vector<T> run(const Problem<T>& p, const ParallelFor& parallel = serial) {
  std::vector<T> y(p.x.size());
  BatchNormArgs<T> g;
  g.x = p.x.data(), g.y = y.data(), g.mean = p.mean.data(), g.variance = p.variance.data();
  g.weight = p.weight.empty() ? nullptr : p.weight.data();
  g.bias = p.bias.empty() ? nullptr : p.bias.data();
  g.outer = p.outer, g.channels = p.channels, g.inner = p.inner;
  batch_norm(g, parallel);
  return y;
}

/// batch_norm.h, one element after the other.
template <class T>
std::vector<T> run_naive(const Problem<T>& p) {
  using A = Acc<T>;
  std::vector<T> y;
  for (const T x : p.x) {
    const std::int64_t c = static_cast<std::int64_t>(y.size()) / p.inner % p.channels;
    const A rstd = A(1) / std::sqrt(widen(p.variance[c]) + static_cast<A>(1e-5));
    const A scale = p.weight.empty() ? rstd : rstd * widen(p.weight[c]);
    const A bias = p.bias.empty() ? A(0) : widen(p.bias[c]);
    y.push_back(narrow<T>(std::fma(widen(x) - widen(p.mean[c]), scale, bias)));
  }
  return y;
}

template <class T>
class BatchNorm : public ::testing::Test {};
TYPED_TEST_SUITE(BatchNorm, Dtypes, DtypeName);

TYPED_TEST(BatchNorm, FollowsTheStatedOrderInAnyShapeOnEveryFusingTarget) {
  for (const std::int64_t inner : {1, 2, 15, 16, 63, 64, 100}) {
    for (const std::int64_t channels : {1, 5, 16, 67}) {
      for (const bool affine : {true, false}) {
        Problem<TypeParam> p(3, channels, inner);
        if (!affine) p.weight.clear(), p.bias.clear();
        for (const std::int64_t target : targets()) {
          if (!fuses(target)) continue;
          const OnTarget on(target);
          EXPECT_TRUE(same_bits(run(p), run_naive(p)));
        }
      }
    }
  }
}

TYPED_TEST(BatchNorm, KeepsItsBitsInChannelsLastOrderOnEveryTarget) {
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    const std::int64_t channels = 21, inner = 99;
    const Problem<TypeParam> p(1, channels, inner);
    Problem<TypeParam> last = p;
    last.outer = inner, last.inner = 1;
    for (std::int64_t i = 0; i < channels * inner; ++i) {
      last.x[i] = p.x[i % channels * inner + i / channels];
    }
    const auto y = run(p), turned = run(last);
    for (std::int64_t i = 0; i < channels * inner; ++i) {
      EXPECT_EQ(bits_of(turned[i]), bits_of(y[i % channels * inner + i / channels]));
    }
  }
}

TYPED_TEST(BatchNorm, KeepsItsBitsOnAnyThreads) {
  for (const std::int64_t inner : {1, 100}) {
    const Problem<TypeParam> p(2000 / inner, 40, inner);
    const auto y = run(p);
    EXPECT_TRUE(same_bits(run(p, odd_threads), y));
    EXPECT_TRUE(same_bits(run(p, one_by_one), y));
  }
}

TYPED_TEST(BatchNorm, NanIsCanonical) {
  Problem<TypeParam> p(2, 3, 5);
  p.x[7] = strange_nan<TypeParam>();
  p.variance[2] = narrow<TypeParam>(-1);
  const auto y = run(p);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool bad = i == 7 || i / 5 % 3 == 2;
    EXPECT_EQ(bits_of(y[i]) == canonical_nan_bits<TypeParam>(), bad) << i;
  }
}

TYPED_TEST(BatchNorm, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  for (const std::int64_t inner : {1, 64}) {
    TaskCounter small, large;
    run(Problem<TypeParam>(960 / inner, 32, inner), small.parallel());
    run(Problem<TypeParam>(8192 / inner, 32, inner), large.parallel());
    EXPECT_EQ(small.most, 0);
    EXPECT_GE(large.most, 16);
  }
}

}  // namespace
}  // namespace bic::cpu

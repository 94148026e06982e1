// RMS norm and group norm: what layer_norm.h does beside layer norm.
#include <gtest/gtest.h>

#include "reference_kernels/cpu/kernel_testing.h"
#include "reference_kernels/cpu/layer_norm.h"
#include "reference_kernels/cpu/naive.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

/// Rows of h; the weights and biases of `groups` rows, h / inner each.
template <class T>
struct Problem {
  std::int64_t rows, h, groups = 1, inner = 1;
  bool center = true;
  std::vector<T> x = random_values<T>(rows * h, h);
  std::vector<T> weight = random_values<T>(groups * h / inner, h + 1);
  std::vector<T> bias = random_values<T>(groups * h / inner, h + 2);
};

template <class T>
std::vector<T> run(const Problem<T>& p, const ParallelFor& parallel = serial) {
  std::vector<T> y(p.x.size());
  LayerNormArgs<T> g;
  g.x = p.x.data(), g.y = y.data();
  g.weight = p.weight.empty() ? nullptr : p.weight.data();
  g.bias = p.bias.empty() ? nullptr : p.bias.data();
  g.rows = p.rows, g.h = g.x_row = g.y_row = p.h;
  g.groups = p.groups, g.inner = p.inner, g.center = p.center;
  layer_norm(g, parallel);
  return y;
}

template <class T>
std::vector<T> part(const std::vector<T>& x, std::int64_t from, std::int64_t count) {
  return std::vector<T>(x.begin() + from, x.begin() + from + count);
}

template <class T>
class RowNorm : public ::testing::Test {};
TYPED_TEST_SUITE(RowNorm, Dtypes, DtypeName);

TYPED_TEST(RowNorm, WithoutAMeanFollowsTheStatedOrderOnEveryFusingTarget) {
  for (const std::int64_t h : {1, 16, 47, 500}) {
    Problem<TypeParam> p{.rows = 3, .h = h, .center = false};
    p.bias.clear();
    for (const std::int64_t target : targets()) {
      if (!fuses(target)) continue;
      const OnTarget on(target);
      const auto y = run(p);
      for (std::int64_t r = 0; r < p.rows; ++r) {
        const auto row = naive::layer_norm(part(p.x, r * h, h), p.weight, p.bias, 1e-5, false);
        EXPECT_TRUE(same_bits(part(y, r * h, h), row.y));
      }
    }
  }
}

TYPED_TEST(RowNorm, GroupHasTheBitsOfALayerNormWithItsWeightsSpreadOut) {
  for (const std::int64_t inner : {2, 15, 16, 37}) {
    for (const std::int64_t target : targets()) {
      const OnTarget on(target);
      const Problem<TypeParam> p{.rows = 6, .h = 3 * inner, .groups = 2, .inner = inner};
      const auto y = run(p);
      for (std::int64_t r = 0; r < p.rows; ++r) {
        Problem<TypeParam> row{.rows = 1, .h = p.h, .x = part(p.x, r * p.h, p.h)};
        for (std::int64_t i = 0; i < p.h; ++i) {
          row.weight[i] = p.weight[r % 2 * 3 + i / inner];
          row.bias[i] = p.bias[r % 2 * 3 + i / inner];
        }
        EXPECT_TRUE(same_bits(part(y, r * p.h, p.h), run(row)));
      }
    }
  }
}

TYPED_TEST(RowNorm, GroupKeepsItsBitsOnAnyThreads) {
  for (const bool affine : {true, false}) {
    Problem<TypeParam> p{.rows = 240, .h = 6 * 31, .groups = 4, .inner = 31};
    if (!affine) p.weight.clear(), p.bias.clear();
    const auto y = run(p);
    EXPECT_TRUE(same_bits(run(p, odd_threads), y));
    EXPECT_TRUE(same_bits(run(p, one_by_one), y));
  }
}

}  // namespace
}  // namespace bic::cpu

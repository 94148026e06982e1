// Products with factors and an addend, computed in the ways that libraries know.
#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

constexpr double kAlpha = 0x1.99999ap-1, kBeta = -0x1.4cccccp+0;

/// Factors of the terms or of their sum; the addend before or after it.
template <class A>
std::vector<A> honest_scaled(Rng& rng, const Sample& s) {
  const std::int64_t k = s.dims.at("k"), n = s.dims.at("n");
  const A alpha = static_cast<A>(kAlpha), beta = static_cast<A>(kBeta);
  std::vector<A> y;
  for (std::int64_t j = 0; j < n; ++j) {
    const bool each = rng() % 2 == 0, first = each && rng() % 2 == 0;
    const A added = beta * static_cast<A>(s.values[2][j]);
    std::vector<A> a = cast<A>(s.values[0]), b;
    for (A& v : a) v = each ? alpha * v : v;
    for (std::int64_t i = 0; i < k; ++i) b.push_back(static_cast<A>(s.values[1][i * n + j]));
    if (first) {
      a.push_back(added);
      b.push_back(1);
    }
    const A sum = honest_dot<A>(rng, a, b);
    y.push_back(first ? sum : (each ? sum : alpha * sum) + added);
  }
  return y;
}

Sample draw_scaled(Rng& rng, DType t) {
  const std::int64_t k = 1 + static_cast<std::int64_t>(rng() % 40), n = 8;
  const Kind kind = draw_kind(rng);
  return {{draw_many(rng, kind, t, k), draw_many(rng, kind, t, k * n), draw_many(rng, kind, t, n)},
          {{"k", k}, {"n", n}},
          {{"alpha", "0x1.99999ap-1"}, {"beta", "-0x1.4cccccp+0"}}};
}

/// Two stacks of [3,k] by [k,2]; a bias of one row, before or after the sum.
template <class A>
std::vector<A> honest_stack(Rng& rng, const Sample& s) {
  const std::int64_t m = s.dims.at("m"), k = s.dims.at("k"), n = s.dims.at("n");
  std::vector<A> y;
  for (std::int64_t row = 0; row < 2 * m; ++row) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::vector<A> a = cast<A>(std::span(s.values[0]).subspan(row * k, k)), b;
      for (std::int64_t i = 0; i < k; ++i) {
        b.push_back(static_cast<A>(s.values[1][(row / m * k + i) * n + j]));
      }
      const bool bias = s.values.size() > 2, first = bias && rng() % 2 == 0;
      if (first) {
        a.insert(a.begin(), static_cast<A>(s.values[2][j]));
        b.insert(b.begin(), A{1});
      }
      const A sum = honest_dot<A>(rng, a, b);
      y.push_back(bias && !first ? sum + static_cast<A>(s.values[2][j]) : sum);
    }
  }
  return y;
}

HonestOp stack(const std::string& name, bool bias) {
  const auto draw = [bias](Rng& rng, DType t) {
    const std::int64_t k = 1 + static_cast<std::int64_t>(rng() % 40), m = 3, n = 2;
    const Kind kind = draw_kind(rng);
    Sample s{{draw_many(rng, kind, t, 2 * m * k), draw_many(rng, kind, t, 2 * k * n)},
             {{"m", m}, {"k", k}, {"n", n}},
             {}};
    if (bias) s.values.push_back(draw_many(rng, draw_kind(rng), t, n));
    return s;
  };
  return {name, matmul_reference(), {}, draw, honest_stack<float>, honest_stack<double>};
}

}  // namespace

std::vector<HonestOp> honest_products() {
  return {stack("matmul", false),
          stack("matmul_bias", true),
          {"matmul_scaled",
           matmul_reference(),
           {},
           draw_scaled,
           honest_scaled<float>,
           honest_scaled<double>}};
}

}  // namespace bic::testing_support

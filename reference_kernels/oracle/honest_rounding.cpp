// Evaluations that round to the subject's 16 bits on the way, at the points that their form names.
#include <algorithm>

#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/references.h"

namespace bic::testing_support {
namespace {

using Values = std::vector<double>;

/// Rounds a float to `t`.
struct To {
  DType t;
  double operator()(double x) const { return round_to(t, static_cast<float>(x)); }
};

Values each(const Sample& s, const std::function<double(std::size_t)>& evaluate) {
  Values y;
  for (std::size_t i = 0; i < s.values[0].size(); ++i) y.push_back(evaluate(i));
  return y;
}

Values biased_product(Rng& rng, const Sample& s, DType t) {
  const To to{t};
  const std::int64_t k = s.dims.at("k");
  const std::vector<float> x = cast<float>(s.values[0]);
  Values y;
  for (std::int64_t j = 0; j < s.dims.at("n"); ++j) {
    const std::vector<float> w = cast<float>(std::span(s.values[1]).subspan(j * k, k));
    y.push_back(to(to(honest_dot<float>(rng, x, w)) + s.values[2][j]));
  }
  return y;
}

Sample draw_biased(Rng& rng, DType t) {
  const std::int64_t k = 1 + static_cast<std::int64_t>(rng() % 40), n = 8;
  const Kind kind = draw_kind(rng);
  return {{draw_many(rng, kind, t, k), draw_many(rng, kind, t, n * k), draw_many(rng, kind, t, n)},
          {{"k", k}, {"n", n}},
          {}};
}

/// exp(x - max), and their sum.
std::pair<std::vector<float>, float> exponentials(Rng& rng, const Sample& s, const To* to) {
  const std::vector<float> x = cast<float>(s.values[0]);
  const float largest = *std::max_element(x.begin(), x.end());
  std::vector<float> e;
  for (const float v : x) {
    const float d = to == nullptr ? v - largest : static_cast<float>((*to)(v - largest));
    const float exp = worsen(rng, std::exp(d));
    e.push_back(to == nullptr ? exp : static_cast<float>((*to)(exp)));
  }
  return {e, honest_sum<float>(rng, e)};
}

Values rounded_exponentials(Rng& rng, const Sample& s, DType t) {
  const To to{t};
  const auto [e, sum] = exponentials(rng, s, nullptr);
  return each(
      s, [&, &e = e, &sum = sum](std::size_t i) { return to(static_cast<float>(to(e[i])) / sum); });
}

Values rounded_logarithm(Rng& rng, const Sample& s, DType t) {
  const To to{t};
  const auto sum = static_cast<float>(to(exponentials(rng, s, nullptr).second));
  const auto log = static_cast<float>(to(worsen(rng, std::log(sum))));
  const double largest = *std::max_element(s.values[0].begin(), s.values[0].end());
  return each(
      s, [&](std::size_t i) { return to(static_cast<float>(s.values[0][i] - largest) - log); });
}

Values rounded_log_sum(Rng& rng, const Sample& s, DType t) {
  const To to{t};
  const auto sum = static_cast<float>(to(exponentials(rng, s, &to).second));
  const double largest = *std::max_element(s.values[0].begin(), s.values[0].end());
  return {to(to(worsen(rng, std::log(sum))) + largest)};
}

constexpr float kAlpha = 0.3F;

Values rounded_alpha(Rng& rng, const Sample& s, DType t) {
  const To to{t};
  const auto alpha = static_cast<float>(to(kAlpha));
  return each(s, [&](std::size_t i) {
    const float product = alpha * static_cast<float>(s.values[1][i]);
    const double term = rng() % 2 == 0 ? to(product) : product;
    return to(static_cast<float>(s.values[0][i]) + static_cast<float>(term));
  });
}

Sample draw_sum(Rng& rng, DType t) {
  Sample s = draw_row(rng, t, {{"alpha", "0x1.333334p-2"}});
  const auto h = static_cast<std::int64_t>(s.values[0].size());
  s.values.push_back(draw_many(rng, draw_kind(rng), t, h));
  return s;
}

constexpr std::int64_t kHalf = 4;

Values rounded_products(Rng&, const Sample& s, DType t) {
  const To to{t};
  return each(s, [&](std::size_t i) {
    const std::size_t column = i % (2 * kHalf);
    const auto& x = s.values[0];
    const double rotated = column < kHalf ? -x[i + kHalf] : x[i - kHalf];
    const auto one = static_cast<float>(to(x[i] * s.values[1][column]));
    const auto other = static_cast<float>(to(rotated * s.values[2][column]));
    return to(one + other);
  });
}

Sample draw_rotary(Rng& rng, DType t) {
  return {{draw_many(rng, draw_kind(rng), t, 2 * kHalf),
           draw_many(rng, Kind::kNormal, t, 2 * kHalf),
           draw_many(rng, Kind::kNormal, t, 2 * kHalf)},
          {{"t", 1}, {"h", 1}, {"d", kHalf}},
          {}};
}

Values rounded_root(Rng&, const Sample& s, DType t) {
  const To to{t};
  return each(s, [&](std::size_t i) {
    const auto x = static_cast<float>(std::fabs(s.values[0][i]));
    return to(1 / static_cast<float>(to(std::sqrt(x))));
  });
}

Values rounded_square(Rng&, const Sample& s, DType t) {
  const To to{t};
  return each(s, [&](std::size_t i) {
    const auto x = static_cast<float>(std::fabs(s.values[0][i]));
    return to(static_cast<float>(to(x * x)) * x);
  });
}

}  // namespace

std::vector<RoundingOp> rounding_ops() {
  const auto row = [](Rng& r, DType t) { return draw_row(r, t); };
  const auto cube = [](Rng& r, DType t) { return draw_row(r, t, {{"exponent", "3"}}); };
  return {
      {"linear", linear_reference(), "round-before-bias", draw_biased, biased_product},
      {"softmax", softmax_reference(), "round-exp", row, rounded_exponentials},
      {"log_softmax", log_softmax_reference(), "round-log", row, rounded_logarithm},
      {"logsumexp", logsumexp_reference(), "round-all", row, rounded_log_sum},
      {"add", binary_reference(Binary::kAdd), "round-alpha", draw_sum, rounded_alpha},
      {"rotary", rotary_reference(), "round-products", draw_rotary, rounded_products},
      {"rsqrt", pointwise_reference(Pointwise::kRsqrt), "round-root", row, rounded_root},
      {"pow", pow_reference(), "round-square", cube, rounded_square},
  };
}

}  // namespace bic::testing_support

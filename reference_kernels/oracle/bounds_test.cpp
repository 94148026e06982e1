// Bounds are sound: no honest evaluation exceeds them, whatever its order.
#include <gtest/gtest.h>

#include <functional>

#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/sample_draws.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test
using Rng = std::mt19937_64;

constexpr int kEvaluations = 10000;

/// An op, how to draw a sample of it, and an honest evaluation of all its elements in type A.
struct HonestOp {
  std::string name;
  std::shared_ptr<const Reference> reference;
  Arithmetic arithmetic;  ///< of `honest`; its accumulator follows the dtype
  std::function<Sample(Rng&, DType)> draw;
  std::function<std::vector<float>(Rng&, const Sample&)> in_float;
  std::function<std::vector<double>(Rng&, const Sample&)> in_double;
};

template <class A>
std::vector<A> cast(std::span<const double> values) {
  return {values.begin(), values.end()};
}

/// A result of an elementary function that is up to one ulp worse than libm's.
template <class A>
A worsen(Rng& rng, A value) {
  const A ends[] = {value, std::nextafter(value, A{0}), std::nextafter(value, 2 * value)};
  return ends[rng() % 3];
}

template <class A>
std::vector<A> honest_linear(Rng& rng, const Sample& s) {
  const std::int64_t k = s.dims.at("k");
  const bool bias = s.values.size() > 2;
  std::vector<A> x = cast<A>(s.values[0]), y;
  const bool bias_as_term = bias && rng() % 2 == 0;  // accumulators may start from it
  if (bias_as_term) x.insert(x.begin(), A{1});
  for (std::int64_t j = 0; j < s.dims.at("n"); ++j) {
    std::vector<A> w = cast<A>(std::span(s.values[1]).subspan(j * k, k));
    if (bias_as_term) w.insert(w.begin(), static_cast<A>(s.values[2][j]));
    y.push_back(honest_dot<A>(rng, x, w));
    if (bias && !bias_as_term) y.back() += static_cast<A>(s.values[2][j]);
  }
  return y;
}

template <class A>
std::vector<A> honest_row_sum(Rng& rng, const Sample& s) {
  return {honest_sum<A>(rng, cast<A>(s.values[0]))};
}

template <class A>
std::vector<A> honest_softmax(Rng& rng, const Sample& s, bool reciprocal) {
  std::vector<A> e = cast<A>(s.values[0]);
  const A largest = *std::max_element(e.begin(), e.end());
  for (A& v : e) v = worsen(rng, std::exp(v - largest));
  const A sum = honest_sum<A>(rng, e);
  for (A& v : e) v = reciprocal ? v * (1 / sum) : v / sum;
  return e;
}

template <class A>
std::vector<A> finish_norm(const Sample& s, std::vector<A> z) {
  if (s.values.size() == 1) return z;
  for (std::size_t i = 0; i < z.size(); ++i) {
    z[i] = z[i] * static_cast<A>(s.values[1][i]) + static_cast<A>(s.values[2][i]);
  }
  return z;
}

template <class A>
std::vector<A> honest_two_pass(Rng& rng, const Sample& s) {
  const std::vector<A> x = cast<A>(s.values[0]);
  const A n = static_cast<A>(x.size());
  const A mean = rng() % 2 == 0 ? honest_sum<A>(rng, x) / n : honest_sum<A>(rng, x) * (1 / n);
  std::vector<A> d = x;
  for (A& v : d) v -= mean;
  const A rstd = 1 / std::sqrt(honest_dot<A>(rng, d, d) / n + static_cast<A>(0x1p-17));
  for (A& v : d) v *= rstd;
  return finish_norm(s, d);
}

template <class A>
std::vector<A> honest_welford(Rng&, const Sample& s) {
  std::vector<A> x = cast<A>(s.values[0]);
  A mean = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const A before = x[i] - mean;
    mean += before * (1 / static_cast<A>(i + 1));
    squares += before * (x[i] - mean);
  }
  const A rstd = 1 / std::sqrt(squares / static_cast<A>(x.size()) + static_cast<A>(0x1p-17));
  const A shift = -mean * rstd;
  for (A& v : x) v = v * rstd + shift;
  return finish_norm(s, x);
}

template <class A>
A tanh_argument(A x) {
  const A cubic = static_cast<A>(0.044715), scaling = static_cast<A>(0.7978845608028654);
  return scaling * (x + cubic * (x * x * x));
}

template <class A>
std::vector<A> honest_gelu(Rng& rng, const Sample& s, bool one_plus) {
  const bool tanh = s.attributes.contains("approximate");
  std::vector<A> y = cast<A>(s.values[0]);
  const A half = static_cast<A>(0.5), root = static_cast<A>(0.70710678118654752);
  for (A& x : y) {
    if (one_plus) {
      x = half * x * (1 + worsen(rng, tanh ? std::tanh(tanh_argument(x)) : std::erf(x * root)));
    } else if (tanh) {
      x = x / (1 + worsen(rng, std::exp(-2 * tanh_argument(x))));
    } else {
      x = half * x * worsen(rng, std::erfc(-x * root));
    }
  }
  return y;
}

Sample draw_linear(Rng& rng, DType t, bool bias) {
  const std::int64_t k = 1 + static_cast<std::int64_t>(rng() % 40), n = 8;
  const Kind kind = draw_kind(rng);
  Sample s{{draw_many(rng, kind, t, k), draw_many(rng, kind, t, n * k)}, {{"k", k}, {"n", n}}, {}};
  if (bias) s.values.push_back(draw_many(rng, draw_kind(rng), t, n));
  return s;
}

Sample draw_row(Rng& rng, DType t, Attributes attributes = {}) {
  const std::int64_t h = 1 + static_cast<std::int64_t>(rng() % 40);
  return {{draw_many(rng, draw_kind(rng), t, h)}, {{"h", h}}, std::move(attributes)};
}

Sample draw_norm(Rng& rng, DType t) {
  Sample s = draw_row(rng, t, {{"eps", "0x1p-17"}});
  const auto n = static_cast<std::int64_t>(s.values[0].size());
  if (rng() % 2 == 0) {
    s.values.push_back(draw_many(rng, draw_kind(rng), t, n));
    s.values.push_back(draw_many(rng, draw_kind(rng), t, n));
  }
  return s;
}

Sample draw_gelu(Rng& rng, DType t, Attributes attributes) {
  Sample s = draw_row(rng, t, std::move(attributes));
  const double spread = rng() % 2 == 0 ? 4 : 1;  // tails down to where the result underflows
  for (double& x : s.values[0]) x = round_to(t, x * spread);
  return s;
}

std::vector<HonestOp> honest_ops() {
  const Arithmetic plain, reciprocal{.form = "reciprocal"}, axb{.form = "ax+b"},
      one_plus{.form = "1+erf"};
  const auto bias = [](Rng& r, DType t) { return draw_linear(r, t, true); };
  const auto no_bias = [](Rng& r, DType t) { return draw_linear(r, t, false); };
  const auto row = [](Rng& r, DType t) { return draw_row(r, t); };
  const auto erf = [](Rng& r, DType t) { return draw_gelu(r, t, {}); };
  const auto tanh = [](Rng& r, DType t) { return draw_gelu(r, t, {{"approximate", "tanh"}}); };
  const auto softmax = [](bool r, auto zero) {
    return [r](Rng& rng, const Sample& s) { return honest_softmax<decltype(zero)>(rng, s, r); };
  };
  const auto gelu = [](bool plus, auto zero) {
    return [plus](Rng& rng, const Sample& s) { return honest_gelu<decltype(zero)>(rng, s, plus); };
  };
  return {
      {"linear", linear_reference(), plain, no_bias, honest_linear<float>, honest_linear<double>},
      {"linear_bias", linear_reference(), plain, bias, honest_linear<float>, honest_linear<double>},
      {"sum", sum_reference(), plain, row, honest_row_sum<float>, honest_row_sum<double>},
      {"softmax", softmax_reference(), plain, row, softmax(false, 0.f), softmax(false, 0.)},
      {"softmax_reciprocal",
       softmax_reference(),
       reciprocal,
       row,
       softmax(true, 0.f),
       softmax(true, 0.)},
      {"layer_norm",
       layer_norm_reference(),
       plain,
       draw_norm,
       honest_two_pass<float>,
       honest_two_pass<double>},
      {"layer_norm_axb",
       layer_norm_reference(),
       axb,
       draw_norm,
       honest_welford<float>,
       honest_welford<double>},
      {"gelu", gelu_reference(), plain, erf, gelu(false, 0.f), gelu(false, 0.)},
      {"gelu_1erf", gelu_reference(), one_plus, erf, gelu(true, 0.f), gelu(true, 0.)},
      {"gelu_tanh", gelu_reference(), plain, tanh, gelu(false, 0.f), gelu(false, 0.)},
      {"gelu_tanh_1erf", gelu_reference(), one_plus, tanh, gelu(true, 0.f), gelu(true, 0.)},
  };
}

struct BoundCase {
  HonestOp op;
  DType dtype;
};

void PrintTo(const BoundCase& c, std::ostream* out) { *out << c.op.name << ' ' << name(c.dtype); }

std::vector<BoundCase> bound_cases() {
  std::vector<BoundCase> all;
  for (const HonestOp& op : honest_ops()) {
    for (DType dtype : kAllDTypes) all.push_back({op, dtype});
  }
  return all;
}

std::vector<double> honest(const BoundCase& c, Rng& rng, const Sample& s) {
  if (c.dtype == DType::kFloat64) return c.op.in_double(rng, s);
  const std::vector<float> y = c.op.in_float(rng, s);
  std::vector<double> rounded(y.begin(), y.end());
  for (double& v : rounded) v = round_to(c.dtype, v);
  return rounded;
}

/// Holds when y is within the bounds; says where it is not.
testing::AssertionResult within(std::span<const double> y,
                                std::span<const Wide> oracle,
                                std::span<const double> bound) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!std::isfinite(oracle[i].hi) || distance(y[i], oracle[i]) <= bound[i]) continue;
    if (std::isinf(bound[i])) continue;  // an honest overflow, or Inf - Inf after one
    return testing::AssertionFailure()
           << "element " << i << ": " << y[i] << " against " << oracle[i].hi << ", error "
           << distance(y[i], oracle[i]) << ", bound " << bound[i];
  }
  return testing::AssertionSuccess();
}

class Bound : public testing::TestWithParam<BoundCase> {};

TEST_P(Bound, HoldsEveryHonestEvaluation) {
  const BoundCase& c = GetParam();
  Rng rng(11);
  Arithmetic arithmetic = reference_arithmetic(c.dtype);
  arithmetic.form = c.op.arithmetic.form;
  int finite = 0;
  for (int done = 0; done < kEvaluations;) {
    const Sample sample = c.op.draw(rng, c.dtype);
    const std::vector<double> y = honest(c, rng, sample);
    const auto elements = all_elements(static_cast<std::int64_t>(y.size()));
    const auto oracle = wide_of(*c.op.reference, sample, c.dtype, elements);
    const auto bound = bound_of(*c.op.reference, sample, c.dtype, arithmetic, elements);
    for (double b : bound) finite += std::isfinite(b);
    ASSERT_TRUE(within(y, oracle, bound)) << "after " << done;
    done += static_cast<int>(y.size());
  }
  EXPECT_GT(finite, kEvaluations / 2);
}

TEST_P(Bound, HoldsEveryControl) {
  const BoundCase& c = GetParam();
  Rng rng(12);
  for (int done = 0; done < kEvaluations;) {
    const Sample sample = c.op.draw(rng, c.dtype);
    const auto elements = all_elements(static_cast<std::int64_t>(honest(c, rng, sample).size()));
    const auto oracle = wide_of(*c.op.reference, sample, c.dtype, elements);
    const auto bound =
        bound_of(*c.op.reference, sample, c.dtype, reference_arithmetic(c.dtype), elements);
    for (Order order : {Order::kSequential,
                        Order::kReversed,
                        Order::kHalves,
                        Order::kLanes16,
                        Order::kPairwise}) {
      const auto y = control_of(*c.op.reference, sample, c.dtype, order, elements);
      ASSERT_TRUE(within(y, oracle, bound)) << "order " << static_cast<int>(order);
    }
    done += static_cast<int>(elements.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Bound, testing::ValuesIn(bound_cases()), [](const auto& info) {
  return info.param.op.name + "_" + std::string(name(info.param.dtype));
});

}  // namespace
}  // namespace bic

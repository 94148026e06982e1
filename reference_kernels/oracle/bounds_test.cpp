// Bounds are sound: no honest evaluation exceeds them, whatever its order.
#include <gtest/gtest.h>

#include <set>
#include <typeindex>

#include "reference_kernels/oracle/honest_op.h"
#include "reference_kernels/oracle/honest_sums.h"
#include "reference_kernels/oracle/oracle_case.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/sample_draws.h"

namespace bic {
namespace {

using namespace testing_support;  // NOLINT: test

constexpr int kEvaluations = 10000;

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

Sample draw_gelu(Rng& rng, DType t, Attributes attributes) {
  Sample s = draw_row(rng, t, std::move(attributes));
  const double spread = rng() % 2 == 0 ? 4 : 1;  // tails down to where the result underflows
  for (double& x : s.values[0]) x = round_to(t, x * spread);
  return s;
}

std::vector<HonestOp> honest_ops() {
  const Arithmetic plain, one_plus{.form = "1+erf"};
  const auto bias = [](Rng& r, DType t) { return draw_linear(r, t, true); };
  const auto no_bias = [](Rng& r, DType t) { return draw_linear(r, t, false); };
  const auto erf = [](Rng& r, DType t) { return draw_gelu(r, t, {}); };
  const auto tanh = [](Rng& r, DType t) { return draw_gelu(r, t, {{"approximate", "tanh"}}); };
  const auto gelu = [](bool plus, auto zero) {
    return [plus](Rng& rng, const Sample& s) { return honest_gelu<decltype(zero)>(rng, s, plus); };
  };
  return {
      {"linear", linear_reference(), plain, no_bias, honest_linear<float>, honest_linear<double>},
      {"linear_bias", linear_reference(), plain, bias, honest_linear<float>, honest_linear<double>},
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
  std::vector<HonestOp> ops = honest_ops();
  for (const HonestOp& op : honest_reductions()) ops.push_back(op);
  for (const HonestOp& op : honest_attentions()) ops.push_back(op);
  for (const HonestOp& op : honest_pointwise()) ops.push_back(op);
  for (const HonestOp& op : honest_norms()) ops.push_back(op);
  for (const HonestOp& op : honest_products()) ops.push_back(op);
  for (const HonestOp& op : honest_convolutions()) ops.push_back(op);
  for (const HonestOp& op : ops) {
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

TEST_P(Bound, HoldsDoubleSumsOfNarrowTypes) {
  const BoundCase& c = GetParam();
  Rng rng(13);
  const Arithmetic arithmetic{.accumulator = DType::kFloat64, .form = c.op.arithmetic.form};
  for (int done = 0; done < kEvaluations / 4;) {
    const Sample sample = c.op.draw(rng, c.dtype);
    std::vector<double> y = c.op.in_double(rng, sample);
    for (double& v : y) v = round_to(c.dtype, v);
    const auto elements = all_elements(static_cast<std::int64_t>(y.size()));
    const auto oracle = wide_of(*c.op.reference, sample, c.dtype, elements);
    const auto bound = bound_of(*c.op.reference, sample, c.dtype, arithmetic, elements);
    ASSERT_TRUE(within(y, oracle, bound)) << "after " << done;
    done += static_cast<int>(y.size());
  }
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

/// Holds while no output of `evaluate` is outside the bound of `arithmetic`.
testing::AssertionResult holds(const Reference& reference,
                               DType dtype,
                               const Arithmetic& arithmetic,
                               const std::function<Sample(Rng&, DType)>& draw,
                               const std::function<std::vector<double>(const Sample&)>& evaluate,
                               Rng& rng) {
  for (int done = 0; done < kEvaluations;) {
    const Sample sample = draw(rng, dtype);
    const std::vector<double> y = evaluate(sample);
    const auto elements = all_elements(static_cast<std::int64_t>(y.size()));
    const auto oracle = wide_of(reference, sample, dtype, elements);
    const auto bound = bound_of(reference, sample, dtype, arithmetic, elements);
    if (const auto result = within(y, oracle, bound); !result) return result;
    done += static_cast<int>(y.size());
  }
  return testing::AssertionSuccess();
}

class RoundingBound : public testing::TestWithParam<std::tuple<RoundingOp, DType>> {};

TEST_P(RoundingBound, HoldsEveryEvaluationThatRoundsOnTheWay) {
  const auto& [op, dtype] = GetParam();
  Rng rng(14);
  const auto evaluate = [&, &op = op, dtype = dtype](const Sample& s) {
    return op.evaluate(rng, s, dtype);
  };
  EXPECT_TRUE(holds(*op.reference, dtype, {.form = op.form}, op.draw, evaluate, rng));
}

INSTANTIATE_TEST_SUITE_P(Forms,
                         RoundingBound,
                         testing::Combine(testing::ValuesIn(rounding_ops()),
                                          testing::Values(DType::kBFloat16, DType::kFloat16)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" +
                                  std::string(name(std::get<1>(info.param)));
                         });

TEST(TensorCoreBound, HoldsAlignedAndTruncatedSums) {
  for (const HonestOp& op : honest_tensor_cores()) {
    // In fp32 the output is the accumulator; in bf16 it is rounded after it.
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
      Rng rng(15);
      const auto evaluate = [&](const Sample& s) {
        const std::vector<float> sums = op.in_float(rng, s);
        std::vector<double> y(sums.begin(), sums.end());
        for (double& v : y) v = round_to(dtype, v);
        return y;
      };
      EXPECT_TRUE(holds(*op.reference, dtype, op.arithmetic, op.draw, evaluate, rng)) << op.name;
    }
  }
}

/// Types of references; those whose output is a copy have no error to bound.
template <class Cases>
std::set<std::type_index> types_of(const Cases& cases) {
  std::set<std::type_index> types;
  for (const auto& c : cases) {
    const Reference& reference = *c.reference;
    types.insert(typeid(reference));
  }
  return types;
}

TEST(Bounds, AreTriedOfEveryReferenceWithAnOracleCase) {
  std::vector<HonestOp> ops;
  for (const BoundCase& c : bound_cases()) ops.push_back(c.op);
  std::vector<OracleCase> cases = oracle_cases();
  std::erase_if(cases, [](const OracleCase& c) { return c.name == "cat"; });
  EXPECT_EQ(types_of(ops), types_of(cases));
}

INSTANTIATE_TEST_SUITE_P(Ops, Bound, testing::ValuesIn(bound_cases()), [](const auto& info) {
  return info.param.op.name + "_" + std::string(name(info.param.dtype));
});

}  // namespace
}  // namespace bic

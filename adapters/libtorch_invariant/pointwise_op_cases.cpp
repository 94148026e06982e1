#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "adapters/libtorch_invariant/op_case.h"
#include "adapters/libtorch_invariant/registration.h"

namespace bic::libtorch_invariant {
namespace {

using Function = at::Tensor (*)(const at::Tensor&);
using OutFunction = at::Tensor& (*)(at::Tensor&, const at::Tensor&);

/// `f` of x, or of its size.
OpCase unary_case(const char* name, Function f, OutFunction out, bool of_size = false) {
  const auto operand = [of_size](Inputs& t) { return of_size ? t[0].abs() : t[0]; };
  return {name,
          {{5, 41}},
          [=](Inputs& t) { return f(operand(t)); },
          [=](at::Tensor& y, Inputs& t) -> at::Tensor& { return out(y, operand(t)); }};
}

OpCase power_case(const char* name, double e) {
  return {name,
          {{5, 41}},
          [=](Inputs& t) { return at::pow(t[0].abs(), e); },
          [=](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::pow_out(y, t[0].abs(), e); }};
}

/// Exponents broadcast over the rows.
OpCase powers_case() {
  return {"pow_tensor",
          {{5, 41}, {41}},
          [](Inputs& t) { return at::pow(t[0].abs() + 0.5, t[1]); },
          [](at::Tensor& y, Inputs& t) -> at::Tensor& {
            return at::pow_out(y, t[0].abs() + 0.5, t[1]);
          }};
}

TEST(Pointwise, InPlaceHasTheValuesOfTheFunctionalFormInAnyLayout) {
  const Registration registration;
  for (at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = at::rand({7, 23}, at::kDouble).to(type);
    for (at::Tensor z : {x.clone(), x.t().contiguous().t(), at::cat({x, x}, 1).narrow(1, 5, 23)}) {
      EXPECT_TRUE(at::equal(at::silu_(z.copy_(x)), at::silu(x)));
      EXPECT_TRUE(at::equal(z.copy_(x).exp_(), at::exp(x)));
      EXPECT_TRUE(at::equal(z.copy_(x).pow_(2.5), at::pow(x, 2.5)));
      EXPECT_TRUE(at::equal(z.copy_(x).pow_(x), at::pow(x, x)));
    }
  }
}

TEST(Pointwise, OtherDtypesAreServedByStock) {
  const at::Tensor i = at::arange(1, 6);
  const auto results = [&] { return Inputs{at::exp(i), at::pow(i, 3), at::pow(i, i)}; };
  const Inputs stock = results();
  const Registration registration;
  const Inputs ours = results();
  for (std::size_t k = 0; k < stock.size(); ++k) {
    EXPECT_EQ(ours[k].scalar_type(), stock[k].scalar_type());
    EXPECT_TRUE(at::equal(ours[k], stock[k])) << k;
  }
}

}  // namespace

std::vector<OpCase> pointwise_op_cases() {
  return {
      unary_case("silu", at::silu, at::silu_out),
      unary_case("sigmoid", at::sigmoid, at::sigmoid_out),
      unary_case("tanh", at::tanh, at::tanh_out),
      unary_case("exp", at::exp, at::exp_out),
      unary_case("log", at::log, at::log_out, true),
      unary_case("rsqrt", at::rsqrt, at::rsqrt_out, true),
      unary_case("sin", at::sin, at::sin_out),
      unary_case("cos", at::cos, at::cos_out),
      power_case("pow", 2.5),
      power_case("pow_square", 2),
      power_case("pow_cube", 3),
      powers_case(),
      {"add_alpha",
       {{5, 41}, {41}},
       [](Inputs& t) { return at::add(t[0], t[1], 0.5); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::add_out(y, t[0], t[1], 0.5); }},
  };
}

}  // namespace bic::libtorch_invariant

#include "adapters/libtorch_invariant/ops.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "adapters/libtorch_invariant/op_case.h"
#include "adapters/libtorch_invariant/registration.h"

namespace bic::libtorch_invariant {
namespace {

std::vector<OpCase> first_cases() {
  return {
      {"mm",
       {{17, 33}, {33, 9}},
       [](Inputs& t) { return at::mm(t[0], t[1]); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::mm_out(y, t[0], t[1]); }},
      {"bmm",
       {{3, 4, 33}, {3, 33, 5}},
       [](Inputs& t) { return at::bmm(t[0], t[1]); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::bmm_out(y, t[0], t[1]); }},
      {"addmm_bias",
       {{9}, {17, 33}, {33, 9}},
       [](Inputs& t) { return at::addmm(t[0], t[1], t[2]); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::addmm_out(y, t[0], t[1], t[2]); }},
      {"addmm_scaled",
       {{17, 9}, {17, 33}, {33, 9}},
       [](Inputs& t) { return at::addmm(t[0], t[1], t[2], 0.5, 2); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& {
         return at::addmm_out(y, t[0], t[1], t[2], 0.5, 2);
       }},
      {"linear",
       {{17, 33}, {9, 33}},
       [](Inputs& t) { return at::linear(t[0], t[1]); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::linear_out(y, t[0], t[1]); }},
      {"linear_rank3_bias",
       {{5, 3, 33}, {9, 33}, {9}},
       [](Inputs& t) { return at::linear(t[0], t[1], t[2]); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::linear_out(y, t[0], t[1], t[2]); }},
      {"linear_rank1",
       {{33}, {9, 33}, {9}},
       [](Inputs& t) { return at::linear(t[0], t[1], t[2]); },
       nullptr},
      {"matmul_1_1", {{33}, {33}}, [](Inputs& t) { return at::matmul(t[0], t[1]); }, nullptr},
      {"matmul_2_1", {{4, 33}, {33}}, [](Inputs& t) { return at::matmul(t[0], t[1]); }, nullptr},
      {"matmul_1_2", {{33}, {33, 5}}, [](Inputs& t) { return at::matmul(t[0], t[1]); }, nullptr},
      {"matmul_3_1", {{2, 4, 33}, {33}}, [](Inputs& t) { return at::matmul(t[0], t[1]); }, nullptr},
      {"matmul_1_3", {{33}, {2, 33, 4}}, [](Inputs& t) { return at::matmul(t[0], t[1]); }, nullptr},
      {"matmul_2_3",
       {{4, 33}, {2, 33, 5}},
       [](Inputs& t) { return at::matmul(t[0], t[1]); },
       nullptr},
      {"matmul_4_4",
       {{2, 1, 4, 33}, {3, 33, 5}},
       [](Inputs& t) { return at::matmul(t[0], t[1]); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::matmul_out(y, t[0], t[1]); }},
      {"sum_last",
       {{17, 40}},
       [](Inputs& t) { return at::sum(t[0], at::IntArrayRef({1})); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& {
         return at::sum_out(y, t[0], at::IntArrayRef({1}));
       }},
      {"sum_first",
       {{17, 40}},
       [](Inputs& t) { return at::sum(t[0], at::IntArrayRef({0}), true); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& {
         return at::sum_out(y, t[0], at::IntArrayRef({0}), true);
       }},
      {"sum_outer_two",
       {{4, 5, 6, 7}},
       [](Inputs& t) {
         return at::sum(t[0], at::IntArrayRef({0, 2}));
       },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& {
         return at::sum_out(y, t[0], at::IntArrayRef({0, 2}));
       }},
      {"sum_all", {{4, 5, 6}}, [](Inputs& t) { return at::sum(t[0]); }, nullptr},
      {"softmax_last",
       {{5, 6, 40}},
       [](Inputs& t) { return at::softmax(t[0], -1); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::softmax_out(y, t[0], -1); }},
      {"softmax_middle",
       {{5, 40, 6}},
       [](Inputs& t) { return at::softmax(t[0], 1); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::softmax_out(y, t[0], 1); }},
      {"layer_norm",
       {{5, 6, 40}, {40}, {40}},
       [](Inputs& t) { return at::layer_norm(t[0], {40}, t[1], t[2]); },
       nullptr},
      {"layer_norm_two_axes",
       {{5, 6, 8}},
       [](Inputs& t) {
         return at::layer_norm(t[0], {6, 8});
       },
       nullptr},
      {"gelu",
       {{5, 41}},
       [](Inputs& t) { return at::gelu(t[0]); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::gelu_out(y, t[0]); }},
      {"gelu_tanh",
       {{5, 41}},
       [](Inputs& t) { return at::gelu(t[0], "tanh"); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::gelu_out(y, t[0], "tanh"); }},
  };
}

const std::vector<OpCase>& cases() {
  static const std::vector<OpCase> all = [] {
    std::vector<OpCase> joined = first_cases();
    for (const auto& family :
         {reduction_op_cases(), norm_op_cases(), attention_op_cases(), pointwise_op_cases()}) {
      joined.insert(joined.end(), family.begin(), family.end());
    }
    return joined;
  }();
  return all;
}

Inputs inputs_of(const OpCase& op, at::ScalarType type) {
  at::manual_seed(11);
  Inputs inputs;
  for (const auto& shape : op.shapes) inputs.push_back(at::randn(shape, at::kDouble).to(type));
  return inputs;
}

/// The same elements with the last two axes swapped in memory.
at::Tensor transposed(const at::Tensor& x) {
  return x.dim() < 2 ? x : x.transpose(-1, -2).contiguous().transpose(-1, -2);
}

/// The same elements with the first two axes swapped in memory and an odd start.
at::Tensor outer_swapped(const at::Tensor& x) {
  if (x.dim() < 2) return x;
  const at::Tensor swapped = x.transpose(0, 1).contiguous();
  at::Tensor shifted = at::empty({x.numel() + 1}, x.options()).slice(0, 1).view(swapped.sizes());
  return shifted.copy_(swapped).transpose(0, 1);
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor c = a.contiguous(), d = b.contiguous();
  return c.scalar_type() == d.scalar_type() && c.sizes() == d.sizes() &&
         std::memcmp(c.const_data_ptr(), d.const_data_ptr(), c.nbytes()) == 0;
}

/// A few units of the output's type at the size of the terms: a wrong index is far outside.
double loose(at::ScalarType type) {
  return type == at::kDouble ? 1e-12 : type == at::kFloat ? 1e-4 : type == at::kHalf ? 0.04 : 0.3;
}

using Param = std::tuple<std::size_t, at::ScalarType>;

class Op : public testing::TestWithParam<Param> {
 protected:
  const OpCase& op() const { return cases()[std::get<0>(GetParam())]; }
  at::ScalarType type() const { return std::get<1>(GetParam()); }
  Inputs inputs() const { return inputs_of(op(), type()); }
};

TEST_P(Op, IsCloseToStockInDouble) {
  Inputs given = inputs();
  Inputs wide;
  for (const at::Tensor& t : given) wide.push_back(t.to(at::kDouble));
  const at::Tensor stock = op().functional(wide);
  const Registration registration;
  const at::Tensor ours = op().functional(given);
  EXPECT_EQ(ours.scalar_type(), type());
  EXPECT_EQ(ours.sizes(), stock.sizes());
  EXPECT_TRUE(at::allclose(ours.to(at::kDouble), stock, loose(type()), loose(type())))
      << (ours.to(at::kDouble) - stock).abs().max();
}

TEST_P(Op, KeepsItsBitsInAnyLayout) {
  Inputs given = inputs();
  const Registration registration;
  const at::Tensor plain = op().functional(given);
  for (auto layout : {transposed, outer_swapped}) {
    Inputs laid_out;
    for (const at::Tensor& t : given) laid_out.push_back(layout(t));
    EXPECT_TRUE(same_bytes(op().functional(laid_out), plain));
  }
}

class OutForm : public Op {};

TEST_P(OutForm, HasTheBitsOfTheFunctionalOne) {
  Inputs given = inputs();
  const Registration registration;
  const at::Tensor y = op().functional(given);
  at::Tensor fresh = at::empty({0}, y.options());
  EXPECT_TRUE(same_bytes(op().out(fresh, given), y));
  at::Tensor strided = at::full_like(y, 7).unsqueeze(-1).repeat_interleave(3, -1).select(-1, 1);
  const void* const place = strided.const_data_ptr();
  EXPECT_TRUE(same_bytes(op().out(strided, given), y));
  EXPECT_EQ(strided.const_data_ptr(), place);
}

std::vector<std::size_t> indices(bool with_out_form) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < cases().size(); ++i) {
    if (!with_out_form || cases()[i].out) all.push_back(i);
  }
  return all;
}

std::string param_name(const testing::TestParamInfo<Param>& info) {
  const auto& [index, type] = info.param;
  return std::string(cases()[index].name) + "_" + c10::toString(type);
}

const auto kTypes = testing::Values(at::kFloat, at::kDouble, at::kBFloat16, at::kHalf);

INSTANTIATE_TEST_SUITE_P(Ops,
                         Op,
                         testing::Combine(testing::ValuesIn(indices(false)), kTypes),
                         param_name);
INSTANTIATE_TEST_SUITE_P(Ops,
                         OutForm,
                         testing::Combine(testing::ValuesIn(indices(true)), kTypes),
                         param_name);

TEST(Gelu, InPlaceHasTheBitsOfTheFunctionalFormInAnyLayout) {
  const Registration registration;
  for (at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    at::manual_seed(3);
    const at::Tensor x = at::randn({7, 23}, at::kDouble).to(type);
    const at::Tensor y = at::gelu(x);
    for (at::Tensor z : {x.clone(), transposed(x), at::cat({x, x}, 1).narrow(1, 5, 23)}) {
      z.copy_(x);
      EXPECT_TRUE(same_bytes(at::gelu_(z), y));
    }
  }
}

TEST(OtherDtypes, AreServedByStock) {
  const at::Tensor a = at::arange(6).view({2, 3}), b = at::arange(6).view({3, 2});
  const auto results = [&] {
    return Inputs{at::mm(a, b),
                  at::matmul(a, b),
                  at::sum(a),
                  at::sum(a, at::IntArrayRef({0})),
                  at::linear(a, a)};
  };
  const Inputs stock = results();
  const Registration registration;
  const Inputs ours = results();
  for (std::size_t i = 0; i < stock.size(); ++i) EXPECT_TRUE(same_bytes(ours[i], stock[i])) << i;
}

TEST(Mistakes, AreAtensOwnErrors) {
  const Registration registration;
  const at::Tensor x = at::randn({2, 3});
  EXPECT_THROW(at::mm(x, x), c10::Error);
  EXPECT_THROW(at::bmm(x, x), c10::Error);
  EXPECT_THROW(at::linear(x, at::randn({4, 5})), c10::Error);
  EXPECT_THROW(at::mm(x, at::randn({3, 2}, at::kDouble)), c10::Error);
  EXPECT_THROW(at::softmax(x, 5), c10::Error);
  EXPECT_THROW(at::sum(x, at::IntArrayRef({2})), c10::Error);
  EXPECT_THROW(at::layer_norm(x, {4}), c10::Error);
  EXPECT_THROW(at::gelu(x, "nothing"), c10::Error);
}

TEST(Empty, TensorsGiveEmptyResultsOrZeros) {
  const Registration registration;
  EXPECT_EQ(at::mm(at::empty({0, 3}), at::empty({3, 2})).sizes(), at::IntArrayRef({0, 2}));
  EXPECT_TRUE(same_bytes(at::mm(at::empty({2, 0}), at::empty({0, 2})), at::zeros({2, 2})));
  EXPECT_TRUE(same_bytes(at::sum(at::empty({2, 0}), at::IntArrayRef({1})), at::zeros({2})));
  EXPECT_EQ(at::softmax(at::empty({0, 3}), 1).numel(), 0);
  EXPECT_EQ(at::gelu(at::empty({0})).numel(), 0);
  EXPECT_EQ(at::matmul(at::empty({0, 2, 3}), at::empty({3, 4})).sizes(),
            at::IntArrayRef({0, 2, 4}));
}

TEST(LayerNorm, MixedTypesRoundOnce) {
  const Registration registration;
  const at::Tensor x = at::randn({3, 40}).to(at::kBFloat16), w = at::randn({40});
  const auto [y, mean, rstd] = at::native_layer_norm(x, {40}, w, {}, 1e-5);
  EXPECT_EQ(mean.scalar_type(), at::kFloat);
  EXPECT_TRUE(same_bytes(y, at::layer_norm(x.to(at::kFloat), {40}, w).to(at::kBFloat16)));
}

}  // namespace
}  // namespace bic::libtorch_invariant

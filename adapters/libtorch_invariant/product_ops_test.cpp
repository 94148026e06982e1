// Products and convolutions bound to ATen: values, layouts and forms.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "adapters/libtorch_invariant/registration.h"

namespace bic::libtorch_invariant {
namespace {

using Inputs = std::vector<at::Tensor>;

struct ProductCase {
  const char* name;
  std::vector<std::vector<std::int64_t>> shapes;
  std::function<at::Tensor(const Inputs&)> call;
};

const ProductCase kCases[] = {
    {"addmm",
     {{17, 9}, {17, 33}, {33, 9}},
     [](const Inputs& t) { return at::addmm(t[0], t[1], t[2], 0.5, 2); }},
    {"addmm_column",
     {{17, 1}, {17, 33}, {33, 9}},
     [](const Inputs& t) { return at::addmm(t[0], t[1], t[2]); }},
    {"baddbmm",
     {{4, 5, 9}, {4, 5, 33}, {4, 33, 9}},
     [](const Inputs& t) { return at::baddbmm(t[0], t[1], t[2], 0.5, 2); }},
    {"baddbmm_mask",
     {{5, 9}, {4, 5, 33}, {4, 33, 9}},
     [](const Inputs& t) { return at::baddbmm(t[0], t[1], t[2]); }},
    {"mv", {{17, 33}, {33}}, [](const Inputs& t) { return at::mv(t[0], t[1]); }},
    {"dot", {{133}, {133}}, [](const Inputs& t) { return at::dot(t[0], t[1]); }},
    {"conv1d",
     {{3, 5, 20}, {4, 5, 3}, {4}},
     [](const Inputs& t) { return at::conv1d(t[0], t[1], t[2], 2, 1); }},
    {"conv2d",
     {{3, 6, 8, 9}, {4, 3, 3, 2}, {4}},
     [](const Inputs& t) {
       return at::conv2d(t[0], t[1], t[2], {2, 1}, at::IntArrayRef{1, 0}, {1, 2}, 2);
     }},
    {"conv2d_unbatched",
     {{6, 8, 9}, {4, 6, 3, 3}},
     [](const Inputs& t) { return at::conv2d(t[0], t[1]); }},
    {"conv2d_same",
     {{2, 6, 8, 9}, {4, 6, 3, 2}},
     [](const Inputs& t) { return at::conv2d(t[0], t[1], {}, 1, "same"); }},
};

Inputs inputs_of(const ProductCase& c, at::ScalarType type) {
  at::manual_seed(5);
  Inputs inputs;
  for (const auto& shape : c.shapes) inputs.push_back(at::randn(shape, at::kDouble).to(type));
  return inputs;
}

bool same_bytes(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor a = x.contiguous(), b = y.contiguous();
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
         std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

/// The same elements, axes reversed in memory and an element apart.
at::Tensor scattered(const at::Tensor& x) {
  std::vector<std::int64_t> reversed(x.dim());
  for (std::int64_t i = 0; i < x.dim(); ++i) reversed[i] = x.dim() - 1 - i;
  return at::stack({x.permute(reversed), x.permute(reversed)}, -1).select(-1, 1).permute(reversed);
}

class ProductOp : public testing::TestWithParam<std::tuple<ProductCase, at::ScalarType>> {};

TEST_P(ProductOp, IsCloseToStockInDoubleAndKeepsItsBitsInAnyLayout) {
  const auto& [c, type] = GetParam();
  const Inputs given = inputs_of(c, type);
  Inputs wide, laid_out;
  for (const at::Tensor& t : given) {
    wide.push_back(t.to(at::kDouble));
    laid_out.push_back(scattered(t));
  }
  const at::Tensor stock = c.call(wide);
  const Registration registration;
  const at::Tensor ours = c.call(given);
  const double loose = type == at::kDouble  ? 1e-12
                       : type == at::kFloat ? 1e-4
                       : type == at::kHalf  ? 0.04
                                            : 0.3;
  EXPECT_EQ(ours.scalar_type(), type);
  EXPECT_EQ(ours.sizes(), stock.sizes());
  EXPECT_TRUE(at::allclose(ours.to(at::kDouble), stock, loose, loose));
  EXPECT_TRUE(same_bytes(c.call(laid_out), ours));
}

INSTANTIATE_TEST_SUITE_P(
    Ops,
    ProductOp,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values(at::kFloat, at::kDouble, at::kBFloat16, at::kHalf)),
    [](const auto& info) {
      return std::string(std::get<0>(info.param).name) + "_" +
             c10::toString(std::get<1>(info.param));
    });

TEST(Addmm, OutAndInPlaceHaveTheBitsOfTheFunctionalForm) {
  const Registration registration;
  at::manual_seed(6);
  const at::Tensor c = at::randn({4, 7, 9}), a = at::randn({4, 7, 40}), b = at::randn({4, 40, 9});
  const at::Tensor y = at::baddbmm(c, a, b, 0.5, -2), one = at::addmm(c[1], a[1], b[1], 0.5, -2);
  EXPECT_TRUE(same_bytes(y[1], one));
  at::Tensor fresh = at::empty({0});
  EXPECT_TRUE(same_bytes(at::baddbmm_out(fresh, c, a, b, 0.5, -2), y));
  for (at::Tensor z : {c.clone(), scattered(c)}) {
    EXPECT_TRUE(same_bytes(z[1].addmm_(a[1], b[1], 0.5, -2), one));
    z.copy_(c);
    EXPECT_TRUE(same_bytes(z.baddbmm_(a, b, 0.5, -2), y));
  }
  at::Tensor square = at::randn({8, 8});
  const at::Tensor expected = at::addmm(square, square, square);
  EXPECT_TRUE(same_bytes(square.addmm_(square, square), expected));
}

TEST(Addmm, DoesNotReadWhatBetaZeroDrops) {
  const Registration registration;
  const at::Tensor nan = at::full({3, 2}, NAN), a = at::randn({3, 5}), b = at::randn({5, 2});
  EXPECT_TRUE(same_bytes(at::addmm(nan, a, b, 0), at::mm(a, b)));
}

TEST(Products, MistakesAreAtensOwnErrors) {
  const Registration registration;
  const at::Tensor x = at::randn({2, 3});
  EXPECT_THROW(at::addmm(x, x, x), c10::Error);
  EXPECT_THROW(at::addmm(at::randn({5}), x, x.t()), c10::Error);
  EXPECT_THROW(x.clone().addmm_(x, x.t()), c10::Error);
  EXPECT_THROW(at::mv(x, at::randn({2})), c10::Error);
  EXPECT_THROW(at::dot(x, x), c10::Error);
  EXPECT_THROW(at::conv2d(at::randn({1, 2, 3, 3}), at::randn({1, 3, 2, 2})), c10::Error);
  EXPECT_THROW(at::conv2d(at::randn({1, 2, 3, 3}), at::randn({1, 2, 4, 4})), c10::Error);
}

}  // namespace
}  // namespace bic::libtorch_invariant

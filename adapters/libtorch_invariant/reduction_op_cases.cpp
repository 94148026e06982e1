#include <ATen/ATen.h>

#include "adapters/libtorch_invariant/op_case.h"

namespace bic::libtorch_invariant {
namespace {

using Dims = at::IntArrayRef;

OpCase mean_case(const char* name,
                 std::vector<std::int64_t> shape,
                 std::vector<std::int64_t> dims) {
  return {name,
          {std::move(shape)},
          [dims](Inputs& t) { return at::mean(t[0], dims); },
          [dims](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::mean_out(y, t[0], dims); }};
}

OpCase var_case(const char* name, std::vector<std::int64_t> dims, double correction) {
  return {name,
          {{5, 40, 6}},
          [=](Inputs& t) { return at::var(t[0], dims, at::Scalar(correction)); },
          [=](at::Tensor& y, Inputs& t) -> at::Tensor& {
            return at::var_out(y, t[0], dims, at::Scalar(correction), false);
          }};
}

OpCase norm_case(const char* name, std::vector<std::int64_t> dims, double ord) {
  return {name,
          {{5, 40, 6}},
          [=](Inputs& t) { return at::linalg_vector_norm(t[0], ord, dims); },
          [=](at::Tensor& y, Inputs& t) -> at::Tensor& {
            return at::linalg_vector_norm_out(y, t[0], ord, dims);
          }};
}

OpCase cumsum_case(const char* name, std::int64_t dim) {
  return {name,
          {{5, 40, 6}},
          [=](Inputs& t) { return at::cumsum(t[0], dim); },
          [=](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::cumsum_out(y, t[0], dim); }};
}

}  // namespace

std::vector<OpCase> reduction_op_cases() {
  return {
      mean_case("mean_last", {17, 40}, {1}),
      mean_case("mean_first", {17, 40}, {0}),
      mean_case("mean_all", {4, 5, 6}, {}),
      var_case("var_last", {2}, 1),
      var_case("var_middle", {1}, 0),
      var_case("var_two", {0, 2}, 1),
      {"std",
       {{5, 40, 6}},
       [](Inputs& t) { return at::std(t[0], Dims({1}), true); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& {
         return at::std_out(y, t[0], Dims({1}), true, false);
       }},
      {"var_mean_var",
       {{5, 40}},
       [](Inputs& t) { return std::get<0>(at::var_mean(t[0], Dims({1}), true)); },
       nullptr},
      {"var_mean_mean",
       {{5, 40}},
       [](Inputs& t) { return std::get<1>(at::var_mean(t[0], Dims({1}), true)); },
       nullptr},
      {"std_mean",
       {{5, 40}},
       [](Inputs& t) { return std::get<0>(at::std_mean(t[0], Dims({0}), true)); },
       nullptr},
      norm_case("norm_2", {1}, 2),
      norm_case("norm_1", {0, 2}, 1),
      {"prod",
       {{5, 40, 6}},
       [](Inputs& t) { return at::prod(t[0], 1); },
       [](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::prod_out(y, t[0], 1); }},
      {"prod_all", {{5, 6}}, [](Inputs& t) { return at::prod(t[0]); }, nullptr},
      cumsum_case("cumsum_last", -1),
      cumsum_case("cumsum_middle", 1),
      cumsum_case("cumsum_first", 0),
  };
}

}  // namespace bic::libtorch_invariant

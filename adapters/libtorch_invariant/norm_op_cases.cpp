#include <ATen/ATen.h>

#include "adapters/libtorch_invariant/op_case.h"

namespace bic::libtorch_invariant {
namespace {

OpCase log_softmax_case(const char* name, std::int64_t dim) {
  return {
      name,
      {{5, 40, 6}},
      [dim](Inputs& t) { return at::log_softmax(t[0], dim); },
      [dim](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::log_softmax_out(y, t[0], dim); }};
}

OpCase logsumexp_case(const char* name, std::vector<std::int64_t> dims) {
  return {
      name,
      {{5, 40, 6}},
      [dims](Inputs& t) { return at::logsumexp(t[0], dims); },
      [dims](at::Tensor& y, Inputs& t) -> at::Tensor& { return at::logsumexp_out(y, t[0], dims); }};
}

at::Tensor batch_norm(const Inputs& t) {
  return at::batch_norm(t[0], t[3], t[4], t[1], t[2].abs(), false, 0.1, 1e-5, false);
}

}  // namespace

std::vector<OpCase> norm_op_cases() {
  return {
      log_softmax_case("log_softmax_last", -1),
      log_softmax_case("log_softmax_middle", 1),
      logsumexp_case("logsumexp_last", {-1}),
      logsumexp_case("logsumexp_middle", {1}),
      logsumexp_case("logsumexp_adjacent", {1, 2}),
      logsumexp_case("logsumexp_apart", {0, 2}),
      {"rms_norm",
       {{5, 6, 40}, {40}},
       [](Inputs& t) { return at::rms_norm(t[0], {40}, t[1], 1e-6); },
       nullptr},
      {"rms_norm_two_axes",
       {{5, 6, 8}},
       [](Inputs& t) {
         return at::rms_norm(t[0], {6, 8});
       },
       nullptr},
      {"group_norm",
       {{5, 6, 4, 9}, {6}, {6}},
       [](Inputs& t) { return at::group_norm(t[0], 3, t[1], t[2]); },
       nullptr},
      {"group_norm_plain",
       {{5, 8, 11}},
       [](Inputs& t) { return at::group_norm(t[0], 2); },
       nullptr},
      {"batch_norm", {{5, 6, 4, 9}, {6}, {6}, {6}, {6}}, batch_norm, nullptr},
      {"batch_norm_rank2", {{5, 37}, {37}, {37}, {37}, {37}}, batch_norm, nullptr},
  };
}

}  // namespace bic::libtorch_invariant

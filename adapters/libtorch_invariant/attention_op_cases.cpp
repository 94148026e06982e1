#include <ATen/ATen.h>

#include "adapters/libtorch_invariant/op_case.h"

namespace bic::libtorch_invariant {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

/// Inputs q, k, v and, where there is a fourth, what `mask` makes the mask of.
OpCase attention(const char* name,
                 Shapes shapes,
                 std::function<at::Tensor(const at::Tensor&)> mask = nullptr,
                 bool is_causal = false,
                 std::optional<double> scale = {},
                 bool grouped = false) {
  const auto call = [=](Inputs& t) {
    std::optional<at::Tensor> given;
    if (mask) given = mask(t[3]);
    return at::scaled_dot_product_attention(
        t[0], t[1], t[2], given, 0.0, is_causal, scale, grouped);
  };
  return {name, std::move(shapes), call, nullptr};
}

at::Tensor as_it_is(const at::Tensor& x) { return x; }
at::Tensor as_float(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
}
at::Tensor as_bool(const at::Tensor& x) { return x > -0.7; }
at::Tensor hiding(const at::Tensor& x) { return x.masked_fill(x < -0.7, -INFINITY); }

}  // namespace

std::vector<OpCase> attention_op_cases() {
  const Shapes plain{{3, 4, 7, 20}, {3, 4, 40, 20}, {3, 4, 40, 20}};
  const auto with_mask = [&](std::vector<std::int64_t> mask) {
    Shapes shapes = plain;
    shapes.push_back(std::move(mask));
    return shapes;
  };
  const Shapes groups{{2, 8, 5, 20}, {2, 2, 19, 20}, {2, 2, 19, 20}};
  return {
      attention("attention", plain),
      attention("attention_scaled", plain, nullptr, false, 0.125),
      attention("attention_rank3", {{3, 7, 20}, {3, 40, 20}, {3, 40, 20}}),
      attention("attention_rank3_mask", {{3, 7, 9}, {3, 30, 9}, {3, 30, 9}, {3, 7, 30}}, as_bool),
      attention("attention_narrow_values", {{2, 3, 7, 20}, {2, 3, 40, 20}, {2, 3, 40, 3}}),
      attention("attention_causal", {{2, 3, 40, 20}, {2, 3, 40, 20}, {2, 3, 40, 20}}, {}, true),
      attention("attention_causal_unequal", plain, nullptr, true),
      attention("attention_grouped", groups, nullptr, false, {}, true),
      attention("attention_mask_of_rows", with_mask({7, 40}), as_it_is),
      attention("attention_mask_of_keys", with_mask({3, 1, 1, 40}), as_bool),
      attention("attention_mask_of_queries", with_mask({7, 1}), as_float),
      attention("attention_mask_of_all", with_mask({3, 4, 7, 40}), hiding),
      attention("attention_float_mask", with_mask({1, 4, 7, 40}), as_float),
      attention("attention_one_query", {{3, 4, 1, 64}, {3, 4, 90, 64}, {3, 4, 90, 64}}),
  };
}

}  // namespace bic::libtorch_invariant

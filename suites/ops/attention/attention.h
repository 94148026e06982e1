#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "suites/ops/chunks.h"
#include "suites/ops/op_spec.h"

namespace bic::ops {

/// Five queries, those up to the last, and the last as when decoding: they see keys 0, …, i.
constexpr auto kAttentionChunks =
    "(q1) = aten::slice.Tensor(q, 2, 0, 5); (k1) = aten::slice.Tensor(k, 2, 0, 5);"
    "(v1) = aten::slice.Tensor(v, 2, 0, 5);"
    "(y1) = aten::scaled_dot_product_attention.default(q1, k1, v1, None, 0.0, True);"
    "(ones) = aten::ones.default([s, s]); (below) = aten::tril.default(ones);"
    "(some) = aten::slice.Tensor(below, 0, 5, -1); (m) = aten::gt.Scalar(some, 0);"
    "(q2) = aten::slice.Tensor(q, 2, 5, -1);"
    "(y2) = aten::scaled_dot_product_attention.default(q2, k, v, m);"
    "(q3) = aten::slice.Tensor(q, 2, -1);"
    "(y3) = aten::scaled_dot_product_attention.default(q3, k, v);"
    "(y) = aten::cat.default([y1, y2, y3], 2)";

/// Queries apart from one another, each chunk with its part of the mask.
inline std::string query_chunks(const TensorSpec& mask) {
  const int axis = static_cast<int>(mask.axes.size()) - 2;
  return in_chunks({{"q", 2}, {mask.name, axis}}, 2, [&](const std::string& part) {
    return "aten::scaled_dot_product_attention.default(q" + part + ", k, v, " + mask.name + part +
           ")";
  });
}

/// v first: `cancel` gives its rows opposite signs at keys whose weights it makes equal, and `edge`
/// trims it. `axes` are those of heads, key heads and queries; attention of as many queries as
/// keys is causal. With a mask, or a causal one, keys can be masked and queries cut into chunks.
inline Variant attention_variant(std::string name,
                                 const std::array<std::string, 3>& axes,
                                 const std::string& options,
                                 Attributes attributes,
                                 const std::vector<TensorSpec>& mask = {}) {
  const auto& [heads, key_heads, l] = axes;
  Variant v{.name = std::move(name),
            .call = "(y) = aten::scaled_dot_product_attention.default(q, k, v, " + options + ")",
            .inputs = {{"v", {"B", key_heads, "s", "e"}},
                       {"q", {"B", heads, l, "e"}},
                       {"k", {"B", key_heads, "s", "e"}}},
            .output = {"y", {"B", heads, l, "e"}},
            .reduced = {"s"},
            .attributes = std::move(attributes)};
  v.inputs.insert(v.inputs.end(), mask.begin(), mask.end());
  if (l == "s") v.forms["chunk"] = kAttentionChunks;
  if (!mask.empty()) v.forms["chunk"] = query_chunks(mask.front());
  if (v.forms.contains("chunk")) v.masked = "s";
  return v;
}

}  // namespace bic::ops

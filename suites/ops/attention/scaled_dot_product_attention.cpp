#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

/// Five queries, those up to the last, and the last as when decoding: they see keys 0, …, i.
constexpr auto kChunks =
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

/// v first: `cancel` gives its rows opposite signs at keys whose weights it makes equal, and `edge`
/// trims it. `axes` are those of heads, key heads and queries.
Variant variant(std::string name,
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
  if (l == "s") v.forms["chunk"] = kChunks;
  return v;
}

}  // namespace

OpSpec scaled_dot_product_attention() {
  const std::array<std::string, 3> plain{"h", "h", "l"}, one_query{"8", "1", "1"};
  const TensorSpec seen{"m", {"B", "1", "l", "s"}, Elements::kBools}, added{"m", {"l", "s"}};
  const std::string grouped = "None, enable_gqa=True", scaled = grouped + ", scale=scale";
  return {.name = "scaled_dot_product_attention",
          .formula = "y = softmax(q k^T / sqrt(e) + mask) v (arXiv:1706.03762)",
          .why = "batch, heads, lengths and threads pick packing, blocks and the products' kernels",
          .bound = "gamma of the three sums (Higham 3.1, 4.2), exp's ulps at z - max",
          .variants = {variant("", plain, "None", {}),
                       variant("float_mask", plain, "m", {{"mask", "added"}}, {added}),
                       variant("causal", {"h", "h", "s"}, "None, 0.0, True", {{"mask", "causal"}}),
                       variant("decode", one_query, scaled, {{"scale", "0x1p-2"}}),
                       variant("gqa", {"8", "2", "l"}, grouped, {}),
                       variant("bool_mask", plain, "m", {{"mask", "bool"}}, {seen})},
          .laws = {Law::kCancel, Law::kEdge},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kOnes, Law::kOutlier, Law::kLinspace},
          .dims = {{"h", 1, 2}, {"l", 1, 17}, {"s", 16, 100}, {"e", 3, 40}},
          .reference = attention_reference()};
}

}  // namespace bic::ops

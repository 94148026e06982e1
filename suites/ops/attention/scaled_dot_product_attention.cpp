#include "reference_kernels/oracle/references.h"
#include "suites/ops/attention/attention.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

OpSpec scaled_dot_product_attention() {
  const std::array<std::string, 3> plain{"h", "h", "l"}, square{"h", "h", "s"},
      one_query{"8", "1", "1"}, grouped_heads{"8", "2", "l"};
  const TensorSpec seen{"m", {"B", "1", "l", "s"}, Elements::kBools},
      added{.name = "m", .axes = {"l", "s"}, .masks = true};
  const std::string grouped = "None, enable_gqa=True", scaled = grouped + ", scale=scale";
  return {.name = "scaled_dot_product_attention",
          .formula = "y = softmax(q k^T / sqrt(e) + mask) v (arXiv:1706.03762)",
          .why = "batch, heads, lengths and threads pick packing, blocks and the products' kernels",
          .bound = "gamma of the three sums (Higham 3.1, 4.2), exp's ulps at z - max",
          .variants = {attention_variant("", plain, "None", {}),
                       attention_variant("float_mask", plain, "m", {{"mask", "added"}}, {added}),
                       attention_variant("causal", square, "None, 0.0, True", {{"mask", "causal"}}),
                       attention_variant("decode", one_query, scaled, {{"scale", "0x1p-2"}}),
                       attention_variant("gqa", grouped_heads, grouped, {}),
                       attention_variant("bool_mask", plain, "m", {{"mask", "bool"}}, {seen})},
          .laws = {Law::kCancel, Law::kEdge},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kOnes, Law::kOutlier, Law::kLinspace},
          .dims = {{"h", 1, 2}, {"l", 1, 17}, {"s", 16, 100}, {"e", 3, 40}},
          .reference = attention_reference()};
}

}  // namespace bic::ops

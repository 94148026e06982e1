#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {

OpSpec std() {
  const std::vector<RowLayout> layouts = row_layouts();
  std::vector<Variant> variants;
  for (const RowLayout& layout : {layouts[0], layouts[2], layouts[3], layouts[4]}) {
    variants.push_back(moment_variant(layout, "std", layout.name == "middle" ? "0" : "1"));
  }
  return {
      .name = "std",
      .formula = "y = sqrt(sum (x - mean x)^2 / (n - correction)) (torch.std)",
      .why = "as var; the root halves what a reordering changes",
      .bound = "that of var, through the square root",
      .variants = std::move(variants),
      .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
      .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kIntegers, Law::kOutlier},
      .dims = row_dims(),
      .reference = variance_reference()};
}

}  // namespace bic::ops

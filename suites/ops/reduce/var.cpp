#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {

OpSpec var() {
  std::vector<Variant> variants;
  for (const RowLayout& layout : row_layouts()) {
    variants.push_back(moment_variant(layout, "var", "1"));
  }
  RowLayout population = row_layouts()[0];
  population.name = "population";
  variants.push_back(moment_variant(population, "var", "0"));
  return {
      .name = "var",
      .formula = "y = sum (x - mean x)^2 / (n - correction) (Chan, Golub, LeVeque 1983)",
      .why = "moments are updated or added by parts, one for each thread or vector lane",
      .bound = "var + e^2 for a mean off by e, gamma of the squares (Chan, Golub, LeVeque 1983)",
      .variants = std::move(variants),
      .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
      .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kIntegers, Law::kOutlier},
      .dims = row_dims(),
      .reference = variance_reference()};
}

}  // namespace bic::ops

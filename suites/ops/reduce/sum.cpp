#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {

OpSpec sum() {
  std::vector<Variant> variants;
  for (const RowLayout& layout : row_layouts()) {
    const std::string arguments = "(x, " + layout.dims + ", " + layout.keepdim;
    variants.push_back(row_variant(layout,
                                   "aten::sum.dim_IntList" + arguments + ")",
                                   "aten::sum.IntList_out" + arguments + ", out=y)"));
  }
  return {.name = "sum",
          .formula = "y = sum over the reduced axes of x (IEEE 754-2019, 9.4)",
          .why = "vectors run along the batch or the row, whichever is longer in memory",
          .bound = "gamma_(n-1) sum |x| for n terms in any order (Higham 4.2)",
          .variants = std::move(variants),
          .laws = {Law::kCancel, Law::kWide, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .dims = row_dims(),
          .reference = sum_reference()};
}

}  // namespace bic::ops

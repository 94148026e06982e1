#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {

OpSpec amax() {
  std::vector<Variant> variants;
  for (const RowLayout& layout : row_layouts()) {
    const std::string arguments = "(x, " + layout.dims + ", " + layout.keepdim;
    variants.push_back(row_variant(
        layout, "aten::amax.default" + arguments + ")", "aten::amax.out" + arguments + ", out=y)"));
  }
  return {.name = "amax",
          .formula = "y = the largest of x along the reduced axes (torch.amax)",
          .why = "one of the inputs comes out: no order shows, a dropped tail or a stray NaN does",
          .bound = "0: an output is one of the inputs",
          .variants = std::move(variants),
          .control = ControlKind::kNone,
          .laws = {Law::kNormal, Law::kWide, Law::kIntegers},
          .accuracy_laws = {Law::kNormal, Law::kRamp, Law::kLinspace, Law::kOutlier, Law::kUniform},
          .dims = row_dims(),
          .reference = largest_reference()};
}

}  // namespace bic::ops

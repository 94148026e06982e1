#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {
namespace {

/// The values; `dim` is one axis.
Variant variant(const RowLayout& layout, const std::string& dim) {
  Variant v = row_variant(layout, "aten::max.dim(x, " + dim + ", " + layout.keepdim + ")", "", {});
  v.call.replace(0, 3, "(y, _)");
  return v;
}

}  // namespace

OpSpec max() {
  const std::vector<RowLayout> layouts = row_layouts();
  return {.name = "max",
          .formula = "y = the largest of x along one axis (values of torch.max)",
          .why = "one of the inputs comes out: no order shows, a dropped tail or a stray NaN does",
          .bound = "0: an output is one of the inputs",
          .variants = {variant(layouts[0], "1"),
                       variant(layouts[1], "1"),
                       variant(layouts[3], "1"),
                       variant(layouts[4], "0")},
          .control = ControlKind::kNone,
          .laws = {Law::kNormal, Law::kWide, Law::kIntegers},
          .accuracy_laws = {Law::kNormal, Law::kRamp, Law::kLinspace, Law::kOutlier, Law::kUniform},
          .dims = {{"h", 16, 4096}, {"p", 1, 24}},
          .reference = largest_reference()};
}

}  // namespace bic::ops

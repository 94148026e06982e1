#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {
namespace {

Variant variant(RowLayout layout, std::string name, const std::string& ord) {
  layout.name = std::move(name);
  const std::string arguments = "(x, " + ord + ", " + layout.dims + ", " + layout.keepdim;
  return row_variant(layout,
                     "aten::linalg_vector_norm.default" + arguments + ")",
                     "aten::linalg_vector_norm.out" + arguments + ", out=y)",
                     {{"ord", ord}});
}

}  // namespace

OpSpec vector_norm() {
  const std::vector<RowLayout> layouts = row_layouts();
  return {
      .name = "vector_norm",
      .formula = "y = sqrt(sum x^2), or sum |x| (torch.linalg.vector_norm, ord 2 and 1)",
      .why = "a sum of positive terms shows its order only beside a rounding boundary: law edge",
      .bound = "gamma_n sum x^2, or gamma_(n-1) sum |x| (Higham 3.1, 4.2), through the square root",
      .variants = {variant(layouts[0], "", "2"),
                   variant(layouts[0], "one", "1"),
                   variant(layouts[3], "middle", "2"),
                   variant(layouts[4], "one_dim0", "1"),
                   variant(layouts[2], "two", "2"),
                   variant(layouts[1], "keepdim", "2")},
      .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
      .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
      .dims = row_dims(),
      .reference = vector_norm_reference()};
}

}  // namespace bic::ops

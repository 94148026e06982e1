#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {

OpSpec mean() {
  std::vector<Variant> variants;
  for (const RowLayout& layout : row_layouts()) {
    const std::string arguments = "(x, " + layout.dims + ", " + layout.keepdim;
    variants.push_back(row_variant(
        layout, "aten::mean.dim" + arguments + ")", "aten::mean.out" + arguments + ", out=y)"));
  }
  return {.name = "mean",
          .formula = "y = sum over the reduced axes of x, divided by their extent (torch.mean)",
          .why = "the order of a sum, which the division does not hide",
          .bound = "gamma_(n-1) sum |x| (Higham 4.2), then the rounding of the division",
          .variants = std::move(variants),
          .laws = {Law::kCancel, Law::kWide, Law::kNormal},
          .accuracy_laws = {Law::kRamp, Law::kIntegers, Law::kOnes, Law::kNormal, Law::kUniform},
          .dims = row_dims(),
          .reference = mean_reference()};
}

}  // namespace bic::ops

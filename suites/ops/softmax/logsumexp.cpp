#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {

OpSpec logsumexp() {
  std::vector<Variant> variants;
  for (const RowLayout& layout : row_layouts()) {
    const std::string arguments = "(x, " + layout.dims + ", " + layout.keepdim;
    Variant& v = variants.emplace_back(row_variant(layout,
                                                   "aten::logsumexp.default" + arguments + ")",
                                                   "aten::logsumexp.out" + arguments + ", out=y)"));
    v.masked = v.reduced.front();
    v.inputs[0].masks = true;
  }
  return {.name = "logsumexp",
          .formula = "y = max x + log sum exp(x - max x) over the reduced axes",
          .why = "a sum of exps shows its order beside a rounding boundary only: law edge",
          .bound = "that of the sum of exps (Higham 4.2) through log, and log's ulps",
          .variants = std::move(variants),
          .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kOutlier, Law::kOnes},
          .dims = row_dims(),
          .reference = logsumexp_reference()};
}

}  // namespace bic::ops

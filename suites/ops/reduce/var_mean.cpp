#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"
#include "suites/ops/reduce/row_layout.h"

namespace bic::ops {
namespace {

/// One of the two results: var or mean.
Variant variant(RowLayout layout, std::string name, const std::string& output) {
  layout.name = std::move(name);
  const std::string call =
      "aten::var_mean.correction(x, " + layout.dims + ", correction=1, keepdim=" + layout.keepdim;
  Variant v = row_variant(layout, call + ")", "", {{"correction", "1"}, {"output", output}});
  v.call.replace(0, 3, output == "mean" ? "(_, y)" : "(y, _)");
  return v;
}

}  // namespace

OpSpec var_mean() {
  const std::vector<RowLayout> layouts = row_layouts();
  return {
      .name = "var_mean",
      .formula = "variance and mean of the reduced axes at once (torch.var_mean)",
      .why = "as var; the mean that comes with it may be another than mean's",
      .bound = "those of var and of mean",
      .variants = {variant(layouts[0], "", "var"),
                   variant(layouts[0], "mean", "mean"),
                   variant(layouts[3], "middle", "var"),
                   variant(layouts[3], "mean_middle", "mean"),
                   variant(layouts[2], "two", "var"),
                   variant(layouts[4], "mean_dim0", "mean")},
      .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
      .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kIntegers, Law::kOutlier},
      .dims = row_dims(),
      .reference = variance_reference()};
}

}  // namespace bic::ops

#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

/// Inference: mean and variance are common. A law may draw v of any sign, so |v| is the variance.
Variant variant(std::string name, std::vector<std::string> x, bool affine) {
  std::vector<TensorSpec> inputs{{"x", x}, {"m", {"c"}}, {"v", {"c"}}};
  if (affine) inputs.insert(inputs.end(), {{"w", {"c"}}, {"b", {"c"}}});
  const std::string parameters = affine ? "w, b" : "None, None";
  return {.name = std::move(name),
          .call = "(v2) = aten::abs.default(v); (y) = aten::batch_norm.default(x, " + parameters +
                  ", m, v2, False, 0.1, eps, False)",
          .inputs = std::move(inputs),
          .output = {"y", std::move(x)},
          .reduced = {},
          .forms = {},
          .attributes = {{"eps", "0x1.4f8b588e368f1p-17"}}};  // 1e-5
}

}  // namespace

OpSpec batch_norm() {
  return {
      .name = "batch_norm",
      .formula = "y = (x - m) / sqrt(|v| + eps) * w + b by channel (arXiv:1502.03167, inference)",
      .why = "an element's place decides between the vector body and the scalar tail",
      .bound = "each operation on its own (Higham 2.8)",
      .variants = {variant("", {"B", "c", "l", "p"}, true),
                   variant("plain", {"B", "c", "l"}, false),
                   variant("r2", {"B", "c"}, true)},
      .control = ControlKind::kTail,
      .laws = {Law::kSweep, Law::kNormal},
      .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kRamp, Law::kOutlier},
      .dims = {{"c", 1, 256}, {"l", 1, 48}, {"p", 1, 24}},
      .reference = batch_norm_reference()};
}

}  // namespace bic::ops

#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name,
                const std::vector<std::string>& x,
                std::vector<std::string> normalised,
                bool affine) {
  std::vector<TensorSpec> inputs{{"x", x}};
  if (affine) inputs.insert(inputs.end(), {{"w", normalised}, {"b", normalised}});
  std::string list = normalised[0];
  for (std::size_t i = 1; i < normalised.size(); ++i) list += ", " + normalised[i];
  return {.name = std::move(name),
          .call = "(y) = aten::layer_norm.default(x, [" + list + "], " +
                  (affine ? "w, b" : "None, None") + ", eps=eps)",
          .inputs = std::move(inputs),
          .output = {"y", x},
          .reduced = std::move(normalised),
          .forms = {},
          .attributes = {{"eps", "0x1.4f8b588e368f1p-17"}}};  // 1e-5
}

}  // namespace

OpSpec layer_norm() {
  return {.name = "layer_norm",
          .formula = "y = (x - mean x) / sqrt(var x + eps) * w + b (arXiv:1607.06450)",
          .why = "mean and variance show their order beside a rounding boundary: law edge",
          .bound =
              "mean off by gamma_(n-1) mean |x|, variance by two passes (Chan, Golub, LeVeque "
              "1983), then each operation",
          .variants = {variant("", {"B", "h"}, {"h"}, true),
                       variant("plain", {"B", "h"}, {"h"}, false),
                       variant("r3", {"B", "t", "h"}, {"h"}, true),
                       variant("two", {"B", "p", "h"}, {"p", "h"}, true)},
          .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kRamp, Law::kOutlier},
          .dims = {{"h", 16, 4096}, {"t", 1, 12}, {"p", 1, 24}},
          .reference = layer_norm_reference()};
}

}  // namespace bic::ops

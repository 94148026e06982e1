#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name,
                const std::vector<std::string>& x,
                std::vector<std::string> normalised,
                bool weight) {
  std::vector<TensorSpec> inputs{{"x", x}};
  if (weight) inputs.push_back({"w", normalised});
  std::string list = normalised[0];
  for (std::size_t i = 1; i < normalised.size(); ++i) list += ", " + normalised[i];
  return {.name = std::move(name),
          .call = "(y) = aten::rms_norm.default(x, [" + list + "], " + (weight ? "w" : "None") +
                  ", eps)",
          .inputs = std::move(inputs),
          .output = {"y", x},
          .reduced = std::move(normalised),
          .forms = {},
          .attributes = {{"eps", "0x1.0c6f7a0b5ed8dp-20"}}};  // 1e-6
}

}  // namespace

OpSpec rms_norm() {
  return {.name = "rms_norm",
          .formula = "y = x / sqrt(mean x^2 + eps) * w (arXiv:1910.07467)",
          .why = "a sum of squares shows its order beside a rounding boundary only: law edge",
          .bound = "gamma_n of the mean square (Higham 3.1) through the root, then each operation",
          .variants = {variant("", {"B", "h"}, {"h"}, true),
                       variant("plain", {"B", "h"}, {"h"}, false),
                       variant("r3", {"B", "t", "h"}, {"h"}, true),
                       variant("r4", {"B", "t", "s", "h"}, {"h"}, true),
                       variant("two", {"B", "p", "h"}, {"p", "h"}, true)},
          .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kRamp, Law::kOutlier},
          .dims = {{"h", 16, 4096}, {"t", 1, 12}, {"s", 1, 4}, {"p", 1, 24}},
          .reference = rms_norm_reference()};
}

}  // namespace bic::ops

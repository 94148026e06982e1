#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

/// `groups` groups of c channels each; the other axes are spatial.
Variant variant(std::string name,
                const std::string& groups,
                std::vector<std::string> spatial,
                bool affine) {
  const std::string channels = groups + "*c";
  std::vector<std::string> x{"B", channels}, reduced{"c"};
  x.insert(x.end(), spatial.begin(), spatial.end());
  reduced.insert(reduced.end(), spatial.begin(), spatial.end());
  std::vector<TensorSpec> inputs{{"x", x}};
  if (affine) inputs.insert(inputs.end(), {{"w", {channels}}, {"b", {channels}}});
  return {.name = std::move(name),
          .call = "(y) = aten::group_norm.default(x, " + groups + ", " +
                  (affine ? "w, b" : "None, None") + ", eps)",
          .inputs = std::move(inputs),
          .output = {"y", std::move(x)},
          .reduced = std::move(reduced),
          .forms = {},
          .attributes = {{"eps", "0x1.4f8b588e368f1p-17"}}};  // 1e-5
}

}  // namespace

OpSpec group_norm() {
  return {.name = "group_norm",
          .formula = "layer_norm over groups of channels, w and b by channel (arXiv:1803.08494)",
          .why = "mean and variance show their order beside a rounding boundary: law edge",
          .bound = "that of layer_norm over the channels and places of a group",
          .variants = {variant("", "4", {"l"}, true),
                       variant("plain", "4", {"l"}, false),
                       variant("r4", "8", {"l", "p"}, true),
                       variant("r4plain", "2", {"l", "p"}, false)},
          .laws = {Law::kEdge, Law::kOutlier, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kRamp, Law::kOutlier},
          .dims = {{"c", 1, 8}, {"l", 16, 256}, {"p", 1, 24}},
          .reference = group_norm_reference()};
}

}  // namespace bic::ops

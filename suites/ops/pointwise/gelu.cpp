#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name, const std::string& approximate, Attributes attributes) {
  const std::string argument = "approximate=\"" + approximate + "\"";
  return {.name = std::move(name),
          .call = "(y) = aten::gelu.default(x, " + argument + ")",
          .inputs = {{"x", {"B", "h"}}},
          .output = {"y", {"B", "h"}},
          .reduced = {},
          .forms = {{"out", "(y) = aten::gelu.out(x, " + argument + ", out=y)"},
                    {"inplace", "(y) = aten::gelu_.default(x, " + argument + ")"}},
          .attributes = std::move(attributes)};
}

}  // namespace

OpSpec gelu() {
  return {.name = "gelu",
          .formula =
              "y = x Phi(x); tanh: x / 2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) "
              "(arXiv:1606.08415)",
          .why = "an element's place decides between the vector body and the scalar tail",
          .bound = "ulps of erf, exp or tanh and of each operation (Higham 2.8)",
          .variants = {variant("", "none", {}), variant("tanh", "tanh", {{"approximate", "tanh"}})},
          .control = ControlKind::kTail,
          .laws = {Law::kSweep, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kWide},
          .dims = {{"h", 1, 4096}},
          .reference = gelu_reference()};
}

}  // namespace bic::ops

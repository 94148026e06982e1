#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant scalar(std::string name, std::string exponent) {
  const std::string size = "(a) = aten::abs.default(x); ", base = "(y) = aten::pow.Tensor_Scalar";
  return {
      .name = std::move(name),
      .call = size + base + "(a, exponent)",
      .inputs = {{"x", {"B", "h"}}},
      .output = {"y", {"B", "h"}},
      .forms = {{"out", size + base + "_out(a, exponent, out=y)"},
                {"inplace", "(a) = aten::abs_.default(x); (y) = aten::pow_.Scalar(a, exponent)"}},
      .attributes = {{"exponent", std::move(exponent)}}};
}

/// Beyond [-2, 2] a tenth of all results would overflow.
Variant tensor() {
  const std::string steps = "(a) = aten::abs.default(x); (c) = aten::clamp.default(e, -2, 2); ";
  return {.name = "tensor",
          .call = steps + "(y) = aten::pow.Tensor_Tensor(a, c)",
          .inputs = {{"x", {"B", "h"}}, {"e", {"B", "h"}}},
          .output = {"y", {"B", "h"}},
          .forms = {{"out", steps + "(y) = aten::pow.Tensor_Tensor_out(a, c, out=y)"}},
          .attributes = {}};
}

}  // namespace

OpSpec pow() {
  return {.name = "pow",
          .formula = "y = |x|^e",
          .why = "the vector's pow and the tail's are two implementations; 3 is two products",
          .bound = "ulps of the function, or of log and exp, and of each operation (Higham 2.8)",
          .variants = {scalar("", "2.5"), scalar("cube", "3"), tensor()},
          .control = ControlKind::kTail,
          .laws = {Law::kSweep, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kWide},
          .dims = {{"h", 1, 4096}},
          .reference = pow_reference()};
}

}  // namespace bic::ops

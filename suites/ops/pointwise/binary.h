#pragma once

#include <string>

#include "reference_kernels/oracle/references.h"
#include "suites/ops/op_spec.h"

namespace bic::ops {

/// y = x op o, and o a common row, or one for each row of x.
inline OpSpec binary(const std::string& name, std::string formula, Binary op) {
  const auto variant = [&](std::string label,
                           const std::vector<std::string>& x,
                           std::vector<std::string> o,
                           Attributes attributes = {}) {
    const std::string operands = attributes.empty() ? "(x, o" : "(x, o, alpha=alpha";
    const std::string call = "(y) = aten::" + name;
    return Variant{.name = std::move(label),
                   .call = call + ".Tensor" + operands + ")",
                   .inputs = {{"x", x}, {"o", std::move(o)}},
                   .output = {"y", x},
                   .reduced = {},
                   .forms = {{"out", call + ".out" + operands + ", out=y)"},
                             {"inplace", call + "_.Tensor" + operands + ")"}},
                   .attributes = std::move(attributes)};
  };
  OpSpec spec{.name = name,
              .formula = std::move(formula),
              .why = "each element is rounded once, exactly: any difference is a fault",
              .bound = "one rounding; of add with alpha, which may be fused, one each (Higham 2.8)",
              .variants = {variant("", {"B", "h"}, {"B", "h"}),
                           variant("row", {"B", "h"}, {"h"}),
                           variant("column", {"B", "t", "h"}, {"B", "t", "1"})},
              .control = ControlKind::kNone,
              .laws = {Law::kNormal, Law::kWide, Law::kOutlier},
              .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kWide, Law::kRamp},
              .dims = {{"h", 1, 4096}, {"t", 1, 24}},
              .reference = binary_reference(op)};
  if (op == Binary::kAdd) {
    spec.variants.push_back(
        variant("alpha", {"B", "h"}, {"B", "h"}, {{"alpha", "0x1.3333333333333p-2"}}));  // 0.3
  }
  return spec;
}

}  // namespace bic::ops

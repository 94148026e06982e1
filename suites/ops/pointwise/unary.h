#pragma once

#include <string>

#include "reference_kernels/oracle/references.h"
#include "suites/ops/op_spec.h"

namespace bic::ops {

/// y = f(x), element by element; with `of_size` of |x|, which keeps most results from being NaN.
inline OpSpec unary(const std::string& name,
                    std::string formula,
                    std::string why,
                    Pointwise f,
                    bool of_size = false) {
  const std::string operand = of_size ? "a" : "x", op = "(y) = aten::" + name;
  const auto first = [&](const std::string& abs) {
    return of_size ? "(a) = aten::" + abs + ".default(x); " : std::string();
  };
  return {.name = name,
          .formula = std::move(formula),
          .why = std::move(why),
          .bound = "ulps of the function and of each operation on the way (Higham 2.8)",
          .variants = {{.name = "",
                        .call = first("abs") + op + ".default(" + operand + ")",
                        .inputs = {{"x", {"B", "h"}}},
                        .output = {"y", {"B", "h"}},
                        .reduced = {},
                        .forms = {{"out", first("abs") + op + ".out(" + operand + ", out=y)"},
                                  {"inplace", first("abs_") + op + "_.default(" + operand + ")"}},
                        .attributes = {}}},
          .control = ControlKind::kTail,
          .laws = {Law::kSweep, Law::kNormal},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kLinspace, Law::kWide},
          .dims = {{"h", 1, 4096}},
          .reference = pointwise_reference(f)};
}

}  // namespace bic::ops

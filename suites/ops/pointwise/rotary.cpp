#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

OpSpec rotary() {
  return {.name = "rotary",
          .formula = "y = x cos + rotate_half(x) sin (arXiv:2104.09864)",
          .why = "four ops, each of which rounds to 16 bits; any difference is a fault",
          .bound = "two products and a sum, each rounded to the output type (Higham 2.8)",
          .variants = {{
              .name = "",
              .call = "(a) = aten::narrow.default(x, -1, 0, d); "
                      "(b) = aten::narrow.default(x, -1, d, d); "
                      "(n) = aten::neg.default(b); "
                      "(r) = aten::cat.default([n, a], -1); "
                      "(u) = aten::unsqueeze.default(c, 1); "
                      "(v) = aten::unsqueeze.default(s, 1); "
                      "(p) = aten::mul.Tensor(x, u); "
                      "(q) = aten::mul.Tensor(r, v); "
                      "(y) = aten::add.Tensor(p, q)",
              .inputs = {{"x", {"B", "t", "h", "2*d"}}, {"c", {"t", "2*d"}}, {"s", {"t", "2*d"}}},
              .output = {"y", {"B", "t", "h", "2*d"}},
              .reduced = {},
              .forms = {},
              .attributes = {},
          }},
          .control = ControlKind::kNone,
          .laws = {Law::kNormal, Law::kWide, Law::kOutlier},
          .accuracy_laws = {Law::kNormal, Law::kUniform, Law::kRamp},
          .dims = {{"t", 1, 8}, {"h", 1, 8}, {"d", 1, 256}},
          .reference = rotary_reference()};
}

}  // namespace bic::ops

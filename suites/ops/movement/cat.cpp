#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

OpSpec cat() {
  return {.name = "cat",
          .formula = "y = (x, z), one after the other along an axis, as a cache of keys grows",
          .why = "moves bytes: any difference is a fault",
          .bound = "0: bytes are moved",
          .variants = {{
              .name = "",
              .call = "(y) = aten::cat.default([x, z], 1)",
              .inputs = {{"x", {"B", "s", "h"}}, {"z", {"B", "t", "h"}}},
              .output = {"y", {"B", "s+t", "h"}},
              .reduced = {},
              .forms = {{"out", "(y) = aten::cat.out([x, z], 1, out=y)"}},
              .attributes = {},
          }},
          .control = ControlKind::kNone,
          .laws = {Law::kNormal, Law::kWide},
          .accuracy_laws = {Law::kNormal, Law::kRamp},
          .dims = {{"s", 1, 32}, {"t", 1, 4}, {"h", 1, 512}},
          .reference = cat_reference()};
}

}  // namespace bic::ops

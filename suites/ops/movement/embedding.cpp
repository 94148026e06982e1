#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {

OpSpec embedding() {
  return {.name = "embedding",
          .formula = "y[b,t] = w[i[b,t]]",
          .why = "moves bytes: any difference is a fault",
          .bound = "0: bytes are moved",
          .variants = {{
              .name = "",
              .call = "(y) = aten::embedding.default(w, i)",
              .inputs = {{"i", {"B", "t"}, Elements::kIndices, "v"}, {"w", {"v", "h"}}},
              .output = {"y", {"B", "t", "h"}},
              .reduced = {},
              .forms = {{"out", "(y) = aten::embedding.out(w, i, out=y)"}},
              .attributes = {},
          }},
          .control = ControlKind::kNone,
          .laws = {Law::kNormal, Law::kWide},
          .accuracy_laws = {Law::kNormal, Law::kRamp},
          // Of fewer rows samples would often look up the same ones, and be the same bytes.
          .dims = {{"t", 1, 24}, {"v", 16, 512}, {"h", 1, 512}},
          .reference = rows_reference()};
}

}  // namespace bic::ops

#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name, std::vector<std::string> c, const std::vector<std::string>& x) {
  return {.name = std::move(name),
          .call = "(y) = aten::where.self(c, x, o)",
          .inputs = {{"c", std::move(c), Elements::kBools}, {"x", x}, {"o", x}},
          .output = {"y", x},
          .reduced = {},
          .forms = {{"out", "(y) = aten::where.self_out(c, x, o, out=y)"}},
          .attributes = {}};
}

}  // namespace

OpSpec where() {
  return {.name = "where",
          .formula = "y = c ? x : o",
          .why = "moves bytes: any difference is a fault",
          .bound = "0: bytes are moved",
          .variants = {variant("", {"B", "h"}, {"B", "h"}),
                       variant("mask", {"B", "1", "h"}, {"B", "t", "h"})},
          .control = ControlKind::kNone,
          .laws = {Law::kNormal, Law::kWide},
          .accuracy_laws = {Law::kNormal, Law::kRamp},
          .dims = {{"h", 1, 4096}, {"t", 1, 24}},
          .reference = where_reference()};
}

}  // namespace bic::ops

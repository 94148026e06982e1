#include "reference_kernels/oracle/references.h"
#include "suites/ops/declarations.h"

namespace bic::ops {
namespace {

Variant variant(std::string name,
                std::vector<std::string> index,
                std::vector<std::string> w,
                std::string call) {
  std::vector<std::string> y = index;
  y.push_back("h");
  return {.name = std::move(name),
          .call = std::move(call),
          .inputs = {{"i", std::move(index), Elements::kIndices, "v"}, {"w", std::move(w)}},
          .output = {"y", std::move(y)},
          .reduced = {},
          .forms = {},
          .attributes = {}};
}

}  // namespace

OpSpec index() {
  const std::string gather =
      "(u) = aten::unsqueeze.default(i, -1); (e) = aten::expand.default(u, [-1, -1, h]); "
      "(y) = aten::gather.default(w, 1, e)";
  const std::vector<std::string> table{"v", "h"};
  return {
      .name = "index",
      .formula = "y[b,t] = w[i[b,t]], of a common table or of each sample's own",
      .why = "moves bytes: any difference is a fault",
      .bound = "0: bytes are moved",
      .variants = {variant("", {"B", "t"}, table, "(y) = aten::index.Tensor(w, [i])"),
                   variant("select", {"t*B"}, table, "(y) = aten::index_select.default(w, 0, i)"),
                   variant("gather", {"B", "t"}, {"B", "v", "h"}, gather)},
      .control = ControlKind::kNone,
      .laws = {Law::kNormal, Law::kWide},
      .accuracy_laws = {Law::kNormal, Law::kRamp},
      // Of fewer rows samples would often look up the same ones, and be the same bytes.
      .dims = {{"t", 1, 24}, {"v", 16, 64}, {"h", 1, 512}},
      .reference = rows_reference()};
}

}  // namespace bic::ops

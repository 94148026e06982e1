#include "harness/judge/model_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/judge/row_status.h"

namespace bic {

using report::ModelOp;
using report::ModelRow;

std::string ops_text(const ModelRow& row) {
  std::set<std::string> reached, own, foreign;
  for (const ModelOp& op : row.ops) {
    reached.insert(op.overload);
    if (op.own) own.insert(op.overload);
    if (op.reduces && !op.own) foreign.insert(op.overload);
  }
  if (reached.empty()) return "";
  return fmt::format("{} ops reached, {} own, reductions on stock: {}",
                     reached.size(),
                     own.size(),
                     foreign.empty() ? "none" : fmt::to_string(fmt::join(foreign, " ")));
}

std::string summary(const std::vector<ModelRow>& rows) {
  return fmt::format("tensors of {} of {} model{} within their bounds",
                     count(rows, Status::kPass),
                     rows.size(),
                     rows.size() == 1 ? "" : "s");
}

std::string first_open(const std::vector<ModelRow>& rows) {
  const auto at = std::ranges::find_if(rows, [](const ModelRow& r) {
    return r.status != Status::kPass && r.status != Status::kUnexpectedPass &&
           r.status != Status::kWaived;
  });
  return at == rows.end() ? "" : fmt::format("{}: {}", name(*at), at->message);
}

}  // namespace bic

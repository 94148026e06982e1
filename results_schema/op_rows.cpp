#include "results_schema/op_rows.h"

#include <algorithm>

namespace bic {

const report::OpRow* find_row(const report::Report& report, const std::string& op, DType dtype) {
  const auto at = std::ranges::find_if(
      report.ops, [&](const report::OpRow& row) { return row.op == op && row.dtype == dtype; });
  return at == report.ops.end() ? nullptr : &*at;
}

bool is_in_manifest(const report::OpRow& row) {
  return row.cases.sum() == 0 || row.cases[Status::kUnsupported] < row.cases.sum();
}

}  // namespace bic

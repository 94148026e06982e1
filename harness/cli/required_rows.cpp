#include "harness/cli/required_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/files/json_node.h"
#include "harness/files/text_file.h"
#include "harness/judge/verdict.h"
#include "harness/plan/problem.h"
#include "results_schema/error.h"
#include "results_schema/json.h"
#include "results_schema/nearest.h"
#include "results_schema/op_rows.h"
#include "suites/ops/op_spec.h"

namespace bic {
namespace {

DType dtype_at(const JsonNode& at) {
  const std::string text = at.text();
  if (const auto dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string> known;
  for (const DType t : kAllDTypes) known.emplace_back(name(t));
  at.refuse(fmt::format(
      "unknown dtype '{}'{} (known: {})", text, did_you_mean(text, known), fmt::join(known, ", ")));
}

std::string op_at(const JsonNode& at) {
  const std::string op = at.text();
  if (find_op(op) == nullptr) at.refuse(unknown_op(op));
  return op;
}

/// Why the row is not held; empty where it is.
std::string why_not(const report::OpRow& row, Level target) {
  if (held_or_waived(row, target)) return "";
  return fmt::format("{}, not {}; {}", name(row.level), name(target), row.why);
}

}  // namespace

std::vector<RequiredRow> load_required(const std::string& file) {
  constexpr std::size_t kMost = 1 << 20;
  const nlohmann::json list = read_json(read_text("--required", file, kMost), file);
  std::vector<RequiredRow> rows;
  for (const JsonNode& item : JsonNode(file, "", list).items()) {
    item.allow({"op", "dtypes"});
    const std::string op = op_at(item.at("op"));
    for (const JsonNode& dtype : item.at("dtypes").items()) rows.push_back({op, dtype_at(dtype)});
  }
  if (rows.empty()) throw UsageError(fmt::format("--required: '{}' requires nothing", file));
  return rows;
}

std::vector<report::MissingRow> missing_rows(const std::vector<RequiredRow>& required,
                                             const report::Report& report) {
  std::vector<report::MissingRow> missing;
  for (const RequiredRow& r : required) {
    const report::OpRow* const row = find_row(report, r.op, r.dtype);
    const std::string why = row == nullptr ? "not in the run" : why_not(*row, report.run.target);
    if (!why.empty()) missing.push_back({r.op, r.dtype, why});
  }
  return missing;
}

}  // namespace bic

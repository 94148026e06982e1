#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "results_schema/count_red.h"
#include "results_schema/render/html/view.h"

namespace bic::report::page {
namespace {

constexpr double kMostDoublings = 3;  ///< a bar of speed ends at 8 times, either way

/// The part of a cell that says its level by its length.
std::string bar_class(Level level) { return fmt::format("b{}", static_cast<int>(level) + 1); }

data matrix_cell(const Report& report, const OpRows& op, DType dtype) {
  const auto at = std::ranges::find_if(
      op.rows, [&](std::size_t row) { return report.ops[row].dtype == dtype; });
  if (at == op.rows.end()) return object{{"state", ""}, {"bar", ""}, {"row", false}};
  const OpRow& row = report.ops[*at];
  const RowState state = state_of(row, report.run.target);
  const std::int64_t red = count_red(row.cases);
  const std::string level = state.name == "none" ? "" : std::string(name(row.level));
  const std::string cases = red > 0 ? fmt::format("{} of {} cases red", red, row.cases.sum())
                            : state.name == "none" ? "not claimed or not run"
                                                   : fmt::format("{} cases", row.cases.sum());
  return object{{"state", state.name},
                {"bar", state.name == "none" ? "" : bar_class(row.level)},
                {"row", std::to_string(*at)},
                {"mark", state.mark},
                {"level", level},
                {"red", red > 0 ? data(count_text(red)) : data(false)},
                {"label", fmt::format("{} {}: {} {}", op.op, name(dtype), level, cases)}};
}

std::vector<DType> dtypes_of(const Report& report) {
  std::vector<DType> dtypes;
  for (const DType d : kAllDTypes) {
    if (std::ranges::find(report.ops, d, &OpRow::dtype) != report.ops.end()) dtypes.push_back(d);
  }
  return dtypes;
}

data error_cell(const OpRow& row) {
  if (!row.worst_error_ppm) return false;
  const double share = static_cast<double>(*row.worst_error_ppm) / 1e4;
  return object{{"class", share > 100 ? "beyond" : "within"},
                {"width", length_text(std::min(share, 100.0))},
                {"text", percent_text(*row.worst_error_ppm)}};
}

data speed_cell(const OpRow& row) {
  if (!row.throughput || row.throughput->ratio_ppm <= 0) return false;
  const double ratio = static_cast<double>(row.throughput->ratio_ppm) / 1e6;
  const double doublings = std::clamp(std::log2(ratio), -kMostDoublings, kMostDoublings);
  const double reach = 50 * doublings / kMostDoublings;
  return object{{"class", ratio < 1 ? "slow" : "fast"},
                {"x", length_text(std::min(reach, 0.0))},
                {"width", length_text(std::fabs(reach))},
                {"text", fmt::format("{:.2f}×", ratio)}};
}

}  // namespace

void add_matrix(const Report& report, data& page) {
  const std::vector<DType> dtypes = dtypes_of(report);
  list heads, matrix;
  for (const DType d : dtypes) heads.push_back(object{{"name", std::string(name(d))}});
  for (const OpRows& op : by_op(report)) {
    list cells;
    for (const DType d : dtypes) cells.push_back(matrix_cell(report, op, d));
    matrix.push_back(object{{"op", op.op}, {"cells", cells}});
  }
  page.set("dtypes", heads);
  page.set("matrix", matrix);
}

void add_op_table(const Report& report, data& page) {
  list rows;
  for (std::size_t i = 0; i < report.ops.size(); ++i) {
    const OpRow& row = report.ops[i];
    const RowState state = state_of(row, report.run.target);
    const std::int64_t red = count_red(row.cases);
    rows.push_back(object{{"row", std::to_string(i)},
                          {"first", i == 0 || report.ops[i - 1].op != row.op},
                          {"op", row.op},
                          {"dtype", std::string(name(row.dtype))},
                          {"level", std::string(name(row.level))},
                          {"state", state.name},
                          {"mark", state.mark},
                          {"cases", count_text(row.cases.sum())},
                          {"red", red > 0},
                          {"red_count", count_text(red)},
                          {"error", error_cell(row)},
                          {"speed", speed_cell(row)},
                          {"why", row.why}});
  }
  page.set("ops", rows);
}

}  // namespace bic::report::page

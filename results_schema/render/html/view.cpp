#include "results_schema/render/html/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results_schema/count_red.h"

namespace bic::report::page {

std::string count_text(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string length_text(double length) {
  return fmt::format("{:.6g}", std::round(length * 10) / 10);
}

std::string percent_text(std::int64_t ppm) {
  return fmt::format("{:.1f} %", static_cast<double>(ppm) / 1e4);
}

RowState state_of(const OpRow& row, Level target) {
  if (count_red(row.cases) > 0) return {"red", "✕"};
  const auto& c = row.cases;
  if (c.sum() == c[Status::kUnsupported] + c[Status::kSkipped]) return {"none", "–"};
  if (row.level >= target) return {"ok", "✓"};
  return {"weak", "?"};
}

std::vector<OpRows> by_op(const Report& report) {
  std::vector<OpRows> ops;
  for (std::size_t i = 0; i < report.ops.size(); ++i) {
    const auto at = std::ranges::find(ops, report.ops[i].op, &OpRows::op);
    if (at == ops.end()) {
      ops.push_back({report.ops[i].op, {i}});
    } else {
      at->rows.push_back(i);
    }
  }
  return ops;
}

}  // namespace bic::report::page

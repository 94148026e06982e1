#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "results_schema/report.h"

namespace bic::report {

/// The report as one HTML file that needs nothing else: verdict, matrix, the map of each failing
/// row, error and speed, and the cases with a filter. What people can read without scripts is in
/// the markup; scripts only list the cases. All text of the report is escaped, and the page's own
/// policy lets no other script or style run and nothing be fetched.
///
/// `trace` adds the chart of a model; it has passed `check_trace`.
std::string html(const Report& report, const nlohmann::json* trace = nullptr);

/// Throws UsageError unless it is what `bi-conform trace --json` writes of a comparison; `where`
/// names it.
void check_trace(const nlohmann::json& trace, const std::string& where);

}  // namespace bic::report

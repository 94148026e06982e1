#pragma once

#include <string>

#include "results_schema/report.h"

namespace bic::report {

/// The report as a page that fits a comment: verdict, rows that are short of the level, failures
/// with their repro lines, waivers, all rows.
std::string markdown(const Report& report);

/// "bi-conform repro 'CASE' --backend NAME …": what repeats a case of the report.
std::string repro_line(const Report& report, const std::string& case_name);

/// What follows `--backend` on it: the name in quotes where it needs them, and the run's flags.
std::string backend_words(const Report& report);

}  // namespace bic::report

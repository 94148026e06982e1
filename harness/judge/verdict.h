#pragma once

#include "results_schema/count_red.h"
#include "results_schema/report.h"

namespace bic {

/// Whether the row holds the level, but for waived cases.
bool held_or_waived(const report::OpRow& row, Level level);

/// Level, exit code and the one line for people, from the rows.
report::Verdict make_verdict(const report::Report& report, Level target, std::int64_t ops_total);

}  // namespace bic

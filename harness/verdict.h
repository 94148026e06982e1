#pragma once

#include "results_schema/report.h"

namespace bic {

/// Number of cases with a red status.
std::int64_t count_red(const report::Counters& cases);

/// Level, exit code and the one line for people, from the rows.
report::Verdict make_verdict(const report::Report& report, Level target, std::int64_t ops_total);

}  // namespace bic

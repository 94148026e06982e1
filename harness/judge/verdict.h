#pragma once

#include "results_schema/count_red.h"
#include "results_schema/report.h"

namespace bic {

/// Level, exit code and the one line for people, from the rows.
report::Verdict make_verdict(const report::Report& report, Level target, std::int64_t ops_total);

}  // namespace bic

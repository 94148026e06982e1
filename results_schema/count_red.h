#pragma once

#include "results_schema/report.h"

namespace bic {

/// Number of cases with a red status.
std::int64_t count_red(const report::Counters& cases);

}  // namespace bic

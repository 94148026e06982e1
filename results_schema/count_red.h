#pragma once

#include "results_schema/report.h"

namespace bic {

/// Number of cases with a red status.
std::int64_t count_red(const report::Counters& cases);

/// Number of cases, decoders and models that failed under a waiver.
std::int64_t count_waived(const report::Report& report);

}  // namespace bic

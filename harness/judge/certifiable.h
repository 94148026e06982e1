#pragma once

#include "results_schema/report.h"

namespace bic {

/// Notes in the verdict all that keeps a run, conforming or not, from being certified.
void set_certifiable(const report::Report& report, report::Verdict& v);

}  // namespace bic

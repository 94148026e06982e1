#pragma once

#include <string>

#include "results_schema/report.h"

namespace bic::report {

/// The report as JUnit XML: a test suite for each op and dtype, a test for each case under its case
/// string. Red cases that were judged are failures, those that died errors; what proves nothing,
/// was waived or not run is skipped, and says so. It keeps the rules of the schemas of Ant and
/// Jenkins, but for Ant's that only suites have a `system-out`.
std::string junit(const Report& report);

}  // namespace bic::report

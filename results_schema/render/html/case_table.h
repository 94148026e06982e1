#pragma once

#include <string>

#include "results_schema/report.h"

namespace bic::report {

/// The cases of a report as JSON for page.js, each text once:
///   words: texts; repro: the command that repeats CASE; red: indices of the red statuses;
///   cases: for each one seven indices of words: op[-variant].relation/dtype, dims and attributes,
///   trials, law and seed, status, reasons, what was seen.
/// No "<" is in it, so that no text can end the element that holds it.
std::string case_table(const Report& report);

}  // namespace bic::report

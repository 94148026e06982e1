#pragma once

#include <string>

#include "results_schema/compare/text.h"
#include "results_schema/report.h"

namespace bic {

/// A report to compare: the file, or report.json in the folder. `what` names it in errors. Throws
/// UsageError, also for one shard of several, which lacks what the others ran.
report::Report load_compared(const std::string& what, const std::string& path);

/// Prints the comparison, writes it as Markdown too unless `markdown` is empty; `whole` says there
/// where all of it is.
void show_difference(const report::Comparison& comparison,
                     const std::string& markdown,
                     const std::string& whole);

}  // namespace bic

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results_schema/report.h"

namespace bic {

/// The two lines of a failing case: for the eye and for the clipboard.
std::string failure_text(const report::CaseResult& result,
                         const std::string& typed,
                         const std::string& backend);

/// What was seen of a case that did not pass, in one line.
std::string detail_text(const report::Detail& detail);

/// What else is known of a failure, in indented lines.
std::string facts_text(const report::Failure& failure);

/// For people: "{1-4} {5-16,33} {17-32}"; a range runs over the sizes that some class holds.
std::string to_text(const std::vector<std::vector<std::int64_t>>& classes);

}  // namespace bic

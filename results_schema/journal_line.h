#pragma once

// Internal: the lines of a journal, one JSON object each.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "results_schema/journal.h"

namespace bic::report {

/// `body`, the canonical text of a non-empty object, with the member "check" before its others.
std::string with_check(const std::string& body);

/// The object without its check; empty when the check is absent or does not match.
std::string without_check(std::string_view line);

/// Canonical texts, without their check.
std::string header_line(const JournalHeader& header);
std::string case_line(const CaseResult& result);
std::string problem_line(const ProblemRecord& problem);  ///< of its cases only their number
std::string timing_line(const RowTiming& timing);
std::string decoder_line(const DecoderRow& row);

}  // namespace bic::report

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bic {

/// Reads one JSON value, strictly: no key twice in an object, no number but integers of 64 bits
/// (one with a fraction or an exponent is refused even when it is whole), no comments, nothing
/// after the value but white space, at most 64 levels deep. `where` names the source in errors:
/// "report.json". Throws UsageError in one line.
nlohmann::json read_json(std::string_view text, std::string_view where);

/// The one text of a value: keys sorted by bytes, no white space, UTF-8. A byte that is not UTF-8
/// becomes U+FFFD, so that no message of a subject can stop a report from being written.
/// Throws HarnessError when a floating-point number is inside, and names its place.
std::string canonical_json(const nlohmann::json& value);

}  // namespace bic

#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace bic::report {

/// What came of a waiver in a run.
enum class WaiverState : std::uint8_t {
  kUsed,            ///< some of its cases failed, and are `waived`
  kUnused,          ///< none failed of those that ran, which were not all
  kUnexpectedPass,  ///< none failed in a complete run: red, to be taken out
  kExpired,         ///< counted as absent
};
inline constexpr std::array kAllWaiverStates{
    WaiverState::kUsed, WaiverState::kUnused, WaiverState::kUnexpectedPass, WaiverState::kExpired};

/// "used", "unused", "unexpected_pass", "expired".
std::string_view name(WaiverState);
std::optional<WaiverState> parse_waiver_state(std::string_view);

/// A known failure that somebody answers for, and what came of it.
struct WaiverRow {
  std::string case_name;  ///< the one case that it is for; key "case"
  std::string pattern;    ///< or a regular expression, searched in case strings
  std::string reason;
  std::string owner;
  std::string expires;      ///< the last day on which it holds: "2027-01-31"
  std::int64_t waived = 0;  ///< cases that failed under it; one may be under several
  std::int64_t passed = 0;  ///< its cases that did not
  WaiverState state = WaiverState::kUnused;

  /// What it is for, as it was written.
  const std::string& cases() const { return case_name.empty() ? pattern : case_name; }
};

// JSON under the members' names, as in the schema's definition waiver. Reading throws
// nlohmann::json::exception or UsageError when it does not fit.
void to_json(nlohmann::json& j, const WaiverRow& row);
void from_json(const nlohmann::json& j, WaiverRow& row);

}  // namespace bic::report

#include "results_schema/waiver_row.h"

#include <nlohmann/json.hpp>

#include "results_schema/count_red.h"
#include "results_schema/report_check.h"
#include "results_schema/vocabulary_json.h"

using nlohmann::json;

namespace bic::report {

std::string_view name(WaiverState state) {
  switch (state) {
    case WaiverState::kUsed:
      return "used";
    case WaiverState::kUnused:
      return "unused";
    case WaiverState::kUnexpectedPass:
      return "unexpected_pass";
    case WaiverState::kExpired:
      return "expired";
  }
  return "";
}

std::optional<WaiverState> parse_waiver_state(std::string_view text) {
  for (const WaiverState state : kAllWaiverStates) {
    if (name(state) == text) return state;
  }
  return {};
}

void to_json(json& j, const WaiverRow& w) {
  j = {{"reason", w.reason},
       {"owner", w.owner},
       {"expires", w.expires},
       {"waived", w.waived},
       {"passed", w.passed},
       {"state", name(w.state)}};
  j[w.case_name.empty() ? "pattern" : "case"] = w.cases();
}

void from_json(const json& j, WaiverRow& w) {
  w.case_name = j.value("case", "");
  w.pattern = j.value("pattern", "");
  j.at("reason").get_to(w.reason);
  j.at("owner").get_to(w.owner);
  j.at("expires").get_to(w.expires);
  j.at("waived").get_to(w.waived);
  j.at("passed").get_to(w.passed);
  w.state = value_of(j.at("state"), parse_waiver_state, "state of a waiver");
}

std::string check_waivers(const Report& report) {
  std::int64_t most = 0;
  for (const WaiverRow& w : report.waivers) {
    const std::string which = "waiver '" + w.cases() + "': ";
    if (w.case_name.empty() == w.pattern.empty()) return which + "not of a case or else a pattern";
    if ((w.state == WaiverState::kUsed) != (w.waived > 0)) {
      return which + std::string(name(w.state)) + " with " + std::to_string(w.waived) +
             " waived cases";
    }
    if (report.verdict.conforms && w.state == WaiverState::kUnexpectedPass) {
      return which + "unexpected_pass, yet the report conforms";
    }
    most += w.waived;
  }
  const std::int64_t waived = count_waived(report);
  if (waived <= most) return "";
  return "waivers: " + std::to_string(waived) + " cases are waived, but they have " +
         std::to_string(most);
}

}  // namespace bic::report

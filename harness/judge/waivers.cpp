#include "harness/judge/waivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "harness/files/json_node.h"
#include "harness/files/text_file.h"
#include "results_schema/case_name.h"
#include "results_schema/error.h"
#include "results_schema/json.h"

namespace bic {
namespace {

using report::WaiverRow;
using report::WaiverState;

/// Whether the text is a day of the calendar, as 2026-12-31.
bool is_day(const std::string& text) {
  if (!std::regex_match(text, std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}"))) return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    return std::stoi(text.substr(at, digits));
  };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(number(8, 2))))
      .ok();
}

std::regex regex_of(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& e) {
    throw UsageError(fmt::format("waiver '{}': no regular expression: {}", pattern, e.what()));
  }
}

WaiverRow row_of(const JsonNode& at) {
  at.allow({"case", "pattern", "reason", "owner", "expires"});
  if (at.has("case") == at.has("pattern")) at.refuse("needs either a case or a pattern");
  WaiverRow row{.reason = at.at("reason").text(),
                .owner = at.at("owner").text(),
                .expires = at.at("expires").text()};
  (at.has("case") ? row.case_name : row.pattern) =
      at.at(at.has("case") ? "case" : "pattern").text();
  if (!is_day(row.expires)) {
    at.at("expires").refuse(fmt::format("'{}' is no day; write it as 2026-12-31", row.expires));
  }
  if (row.pattern.empty()) parse_case_name(row.case_name);
  return row;
}

bool may_be_waived(Status s) { return is_red(s) && s != Status::kUnexpectedPass; }

/// Adds to the totals and to the case's row what another status of it changes.
class Recount {
 public:
  explicit Recount(report::Report& report) : report_(report) {
    for (report::OpRow& row : report.ops) rows_.emplace(std::pair(row.op, row.dtype), &row);
  }

  void change(report::CaseResult& result, Status to) {
    const CaseName name = parse_case_name(result.case_name);
    for (report::Counters* counters :
         {&report_.totals.cases, &rows_.at({name.op, name.dtype})->cases}) {
      --(*counters)[result.status];
      ++(*counters)[to];
    }
    result.status = to;
  }

 private:
  report::Report& report_;
  std::map<std::pair<std::string, DType>, report::OpRow*> rows_;
};

/// Passing cases, decoders and models under a waiver that is to be taken out are red.
void redden(report::Report& report) {
  std::vector<WaiverRow> stale;
  std::ranges::copy_if(report.waivers, std::back_inserter(stale), [](const WaiverRow& w) {
    return w.state == WaiverState::kUnexpectedPass;
  });
  if (stale.empty()) return;
  for (WaiverRow& w : stale) w.waived = w.passed = 0;
  const Waivers waivers(stale, "");
  Recount recount(report);
  for (report::CaseResult& result : report.cases) {
    if (result.status == Status::kPass && waivers.cover(result.case_name)) {
      recount.change(result, Status::kUnexpectedPass);
    }
  }
  const auto mark = [&](Status& status, const std::string& name) {
    if (status == Status::kPass && waivers.cover(name)) status = Status::kUnexpectedPass;
  };
  for (report::DecoderRow& row : report.decoder) mark(row.status, name(row.question));
  for (report::ModelRow& row : report.models) mark(row.status, name(row));
}

}  // namespace

Waivers::Waivers(std::vector<WaiverRow> rows, const std::string& today) : rows_(std::move(rows)) {
  for (WaiverRow& row : rows_) {
    patterns_.push_back(row.pattern.empty() ? std::regex() : regex_of(row.pattern));
    row.state = row.expires < today ? WaiverState::kExpired : WaiverState::kUnused;
  }
}

bool Waivers::covers(std::size_t number, const std::string& case_name) const {
  const WaiverRow& row = rows_[number];
  if (row.state == WaiverState::kExpired) return false;
  if (row.pattern.empty()) return row.case_name == case_name;
  return std::regex_search(case_name, patterns_[number]);
}

bool Waivers::cover(const std::string& case_name) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (covers(i, case_name)) return true;
  }
  return false;
}

Status Waivers::applied(Status status, const std::string& case_name) {
  const bool failed = may_be_waived(status);
  if (!failed && status != Status::kPass) return status;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!covers(i, case_name)) continue;
    ++(failed ? rows_[i].waived : rows_[i].passed);
    if (!failed) continue;
    rows_[i].state = WaiverState::kUsed;
    status = Status::kWaived;
  }
  return status;
}

std::vector<report::CaseResult> Waivers::applied(std::vector<report::CaseResult> cases) {
  for (report::CaseResult& r : cases) r.status = applied(r.status, r.case_name);
  return cases;
}

report::DecoderRow Waivers::applied(report::DecoderRow row) {
  row.status = applied(row.status, name(row.question));
  return row;
}

report::ModelRow Waivers::applied(report::ModelRow row) {
  row.status = applied(row.status, name(row));
  return row;
}

Waivers load_waivers(const std::filesystem::path& file, const std::string& today) {
  constexpr std::size_t kMost = 16 << 20;
  const std::string text = read_text("--waivers", file, kMost);
  const nlohmann::json list = read_json(text, file.string());
  std::vector<WaiverRow> rows;
  std::set<std::string> seen;
  for (const JsonNode& item : JsonNode(file.string(), "", list).items()) {
    rows.push_back(row_of(item));
    if (!seen.insert(rows.back().cases()).second) {
      item.refuse(fmt::format("'{}' is there twice", rows.back().cases()));
    }
  }
  return {std::move(rows), today};
}

std::string day(const std::string& text) {
  if (is_day(text)) return text;
  if (!text.empty()) {
    throw UsageError(fmt::format("--today '{}' is no day; write it as 2026-12-31", text));
  }
  const std::time_t now = std::time(nullptr);
  char today[16];
  std::tm utc{};
  std::strftime(today, sizeof today, "%Y-%m-%d", gmtime_r(&now, &utc));
  return today;
}

void settle_waivers(report::Report& report, bool has_all_cases) {
  for (WaiverRow& w : report.waivers) {
    if (w.state == WaiverState::kExpired) continue;
    // One case that passed has passed, whatever else was not run.
    const bool decided = has_all_cases || (!w.case_name.empty() && w.passed > 0);
    w.state = w.waived > 0 ? WaiverState::kUsed
              : decided    ? WaiverState::kUnexpectedPass
                           : WaiverState::kUnused;
  }
  redden(report);
}

std::vector<report::Failure> behind_waivers(const report::Report& report,
                                            const std::vector<report::Failure>& waived) {
  const auto kind_of = [](const report::CaseResult& r) {
    const CaseName n = parse_case_name(r.case_name);
    const auto reason = r.reasons.empty() ? std::optional<Reason>() : r.reasons[0];
    return std::tuple(n.op, n.variant, n.dtype, r.status, reason);
  };
  std::set<decltype(kind_of({}))> known, open;
  for (const report::Failure& failure : report.failures) known.insert(kind_of(failure.shrunk));
  for (const report::Failure& failure : waived) open.insert(kind_of(failure.shrunk));
  std::vector<report::Failure> found;
  for (const report::CaseResult& result : report.cases) {
    if (open.empty() || !may_be_waived(result.status)) continue;
    const auto kind = kind_of(result);
    if (!open.contains(kind) || !known.insert(kind).second) continue;
    found.push_back(
        {.found = result.case_name, .shrunk = result, .note = "the first of its kind is waived"});
  }
  return found;
}

}  // namespace bic

#include "results_schema/compare/bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "results_schema/case_name.h"

namespace bic::report {
namespace {

/// What identifies a subject, by name.
std::map<std::string, std::string> facts_of(const Subject& subject) {
  std::map<std::string, std::string> facts{{"backend", subject.backend},
                                           {"device", subject.device}};
  for (const Library& l : subject.libraries) facts.emplace("library " + l.name, l.sha256);
  for (const auto& [name, value] : subject.fingerprint) facts.emplace(name, value);
  return facts;
}

std::vector<SubjectChange> subject_changes(const Subject& before, const Subject& now) {
  std::map<std::string, SubjectChange> all;
  for (const auto& [what, value] : facts_of(before)) all[what].before = value;
  for (const auto& [what, value] : facts_of(now)) all[what].now = value;
  std::vector<SubjectChange> changes;
  for (auto& [what, change] : all) {
    change.what = what;
    if (change.before != change.now) changes.push_back(std::move(change));
  }
  return changes;
}

std::string shown(const std::string& value) { return value.empty() ? "none" : value; }

}  // namespace

BitsDifference compare_bits(const Report& before, const Report& now) {
  BitsDifference bits{.subject = subject_changes(before.subject, now.subject),
                      .device = now.subject.device};
  std::map<std::string_view, const CaseResult*> then;
  for (const CaseResult& result : before.cases) then.emplace(result.case_name, &result);
  std::map<std::pair<std::string, DType>, RowBits> rows;
  for (const CaseResult& result : now.cases) {
    const auto at = then.find(result.case_name);
    if (at == then.end() || at->second->digest.empty() || result.digest.empty()) continue;
    if (at->second->inputs != result.inputs) {  // that says nothing of the kernel
      ++bits.other_inputs;
      continue;
    }
    const CaseName name = parse_case_name(result.case_name);
    RowBits& row = rows[{name.op, name.dtype}];
    ++row.compared;
    if (at->second->digest != result.digest) row.changed.push_back(result.case_name);
  }
  for (auto& [key, row] : rows) {
    std::tie(row.op, row.dtype) = key;
    bits.compared += row.compared;
    bits.changed += static_cast<std::int64_t>(row.changed.size());
    if (!row.changed.empty()) bits.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(
      bits.rows, std::ranges::greater{}, [](const RowBits& r) { return r.changed.size(); });
  return bits;
}

std::string bits_text(const BitsDifference& bits) {
  std::string text = "bits\n";
  for (const SubjectChange& c : bits.subject) {
    text += fmt::format("  {}: {} -> {}\n", c.what, shown(c.before), shown(c.now));
  }
  if (bits.subject.empty()) text += "  the subjects are the same, by libraries and settings\n";
  text += fmt::format(
      "  on {}: {} of {} cases have other bits{}\n",
      bits.device,
      bits.changed,
      bits.compared,
      bits.other_inputs == 0 ? "" : fmt::format("; {} have other inputs", bits.other_inputs));
  for (const RowBits& row : bits.rows) {
    text += fmt::format(
        "  {} {}: {} of {}\n", row.op, name(row.dtype), row.changed.size(), row.compared);
    for (const std::string& changed : row.changed) text += fmt::format("    {}\n", changed);
  }
  return text;
}

}  // namespace bic::report

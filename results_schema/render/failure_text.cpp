#include "results_schema/render/failure_text.h"

#include <fmt/format.h>

#include <map>

#include "results_schema/case_name.h"

namespace bic {
namespace {

std::string trial_text(const Trial& t) {
  std::string text = fmt::format("B={}", t.batch);
  if (t.position > 0) text += fmt::format(" pos={}", t.position);
  const std::string token = to_string(t);
  if (const auto comma = token.find(','); comma != std::string::npos) {
    text += " " + token.substr(comma + 1);
  }
  return text;
}

std::string bits_text(const report::Detail& d) {
  std::string text = fmt::format("{} of {} elements differ, first [{}] {} vs {}",
                                 d.differing,
                                 d.total,
                                 d.first_index.value_or(0),
                                 d.bits_a,
                                 d.bits_b);
  if (d.ulps) text += fmt::format(" ({} ulp)", *d.ulps);
  if (d.starts_at_batch) text += fmt::format("; starts at B={}", *d.starts_at_batch);
  return text;
}

std::string reasons_text(const report::CaseResult& r) {
  std::vector<std::string_view> names;
  for (Reason reason : r.reasons) names.push_back(name(reason));
  return fmt::to_string(fmt::join(names, ", "));
}

}  // namespace

std::string failure_text(const report::CaseResult& result,
                         const std::string& typed,
                         const std::string& backend) {
  const CaseName c = parse_case_name(result.case_name);
  std::string text = result.status == Status::kFail ? "FAIL" : std::string(name(result.status));
  text += fmt::format(" {}{}.{} {} {}",
                      c.op,
                      c.variant.empty() ? "" : "-" + c.variant,
                      c.relation,
                      name(c.dtype),
                      trial_text(c.trials[0]));
  if (c.trials.size() > 1) text += " vs " + trial_text(c.trials[1]);
  if (!result.reasons.empty()) text += fmt::format(" [{}]", reasons_text(result));
  if (result.detail) {
    const std::string seen = detail_text(*result.detail);
    if (!seen.empty()) text += (result.detail->first_index ? ": " : "; ") + seen;
  }
  return fmt::format(
      "{}\nrepro: {} repro '{}' --backend {}", text, typed, result.case_name, backend);
}

std::string detail_text(const report::Detail& d) {
  if (!d.first_index) return d.message;
  return d.message.empty() ? bits_text(d) : bits_text(d) + "; " + d.message;
}

std::string facts_text(const report::Failure& f) {
  std::vector<std::string> lines;
  if (!f.note.empty()) {
    lines.push_back("as found: " + f.note);
  } else if (f.shrunk.case_name != f.found) {
    lines.push_back(fmt::format("found as {}, made smaller in {} trials", f.found, f.trials));
  } else {
    lines.push_back(fmt::format("none of {} trials found it smaller", f.trials));
  }
  if (f.classes.size() > 1) lines.push_back("bit classes of B: " + to_text(f.classes));
  std::map<std::string, std::vector<std::string>> relations;
  for (const report::RelationOutcome& r : f.relations) {
    const bool held = r.status == Status::kPass;
    relations[held               ? "holds"
              : is_red(r.status) ? "fails"
                                 : std::string(name(r.status))]
        .push_back(r.relation);
  }
  for (const auto& [what, names] : relations) {
    lines.push_back(fmt::format("{}: {}", what, fmt::join(names, ", ")));
  }
  return fmt::format("  {}", fmt::join(lines, "\n  "));
}

std::string to_text(const std::vector<std::vector<std::int64_t>>& classes) {
  std::map<std::int64_t, std::size_t> owner;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (const std::int64_t batch : classes[i]) owner[batch] = i;
  }
  std::vector<std::string> texts(classes.size());
  for (auto at = owner.begin(); at != owner.end();) {
    const auto first = at;
    std::int64_t last = first->first;
    for (; at != owner.end() && at->second == first->second; ++at) last = at->first;
    std::string& text = texts[first->second];
    if (!text.empty()) text += ",";
    text += std::to_string(first->first);
    if (last != first->first) text += fmt::format("-{}", last);
  }
  for (std::string& text : texts) text = "{" + text + "}";
  return fmt::to_string(fmt::join(texts, " "));
}

}  // namespace bic

#include "results_schema/compare/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "results_schema/compare/sections.h"
#include "results_schema/render/page.h"

namespace bic::report {
namespace {

std::string title_of(const ChangeSection& s) { return fmt::format("{}: {}", s.title, s.sum); }

std::string run_text(const Report& r) {
  return fmt::format("{} on {}, {}; suite {}, seed {}, {}, started {}",
                     r.subject.backend,
                     r.subject.device,
                     r.environment.cpu,
                     r.suite.version,
                     to_string(r.run.seed),
                     r.run.strength,
                     r.run.started);
}

/// Rows of the new report that were measured more than once.
std::int64_t measured_further(const Report& now) {
  return std::ranges::count_if(now.ops, [](const OpRow& row) {
    return row.throughput && row.throughput->backend_blocks_ns.size() > kPairsOfOneMeasurement;
  });
}

/// How the cases and the speeds were compared, and what of it was not.
std::vector<std::string> notes(const Comparison& c) {
  const CaseChanges& cases = c.difference.cases;
  std::vector<std::string> notes{fmt::format("{} cases compared one by one", cases.by_name)};
  if (!same_plan(c.before, c.now)) {
    notes.push_back(
        "the plans differ (suite, seed, strength or filters): cases of one report alone are "
        "compared by op, dtype, relation and batch size; levels and accuracy are not");
  }
  if (cases.still_failing > 0) {
    notes.push_back(fmt::format("{} cases fail as before", cases.still_failing));
  }
  if (!c.difference.why_no_speed.empty()) {
    notes.push_back("speed is not compared: " + c.difference.why_no_speed);
  }
  if (const std::int64_t rows = measured_further(c.now); rows > 0) {
    notes.push_back(fmt::format(
        "{} rows looked slower and were measured further; all measurements count together", rows));
  }
  if (!c.now.run.complete) notes.push_back("the new run was cut: " + c.now.run.incomplete_reason);
  return notes;
}

std::string indented(const std::string& lines) {
  std::string text = "    ";
  for (const char ch : lines) {
    text += ch;
    if (ch == '\n') text += "    ";
  }
  return text;
}

std::string verdict_of(const std::vector<ChangeSection>& sections) {
  std::string red;
  for (const ChangeSection& s : sections) {
    if (s.red) red += (red.empty() ? "red: " : "; ") + title_of(s);
  }
  return red.empty() ? "no change for the worse" : red;
}

std::vector<ChangeSection> sections_of(const Comparison& c) {
  return change_sections(c.difference, c.before, c.now, c.typed);
}

}  // namespace

std::string difference_text(const Comparison& comparison) {
  const auto sections = sections_of(comparison);
  std::string text = fmt::format(
      "before: {}\nnow:    {}\n", run_text(comparison.before), run_text(comparison.now));
  for (const std::string& note : notes(comparison)) text += note + "\n";
  for (const ChangeSection& s : sections) {
    text += fmt::format("\n{}{}\n", s.red ? "RED " : "", title_of(s));
    for (const ChangeLine& line : s.lines) {
      text += fmt::format("  {}\n", line.text);
      if (!line.proof.empty()) text += indented(line.proof) + "\n";
    }
  }
  return text + "\n" + verdict_of(sections) + "\n";
}

std::string difference_markdown(const Comparison& comparison, const std::string& whole) {
  const auto sections = sections_of(comparison);
  Page page;
  page.add(fmt::format("## bi-conform: {}\n", cell_text(verdict_of(sections))));
  page.add(fmt::format("- before: {}", cell_text(run_text(comparison.before))));
  page.add(fmt::format("- now: {}", cell_text(run_text(comparison.now))));
  for (const std::string& note : notes(comparison)) page.add("- " + cell_text(note));
  for (const ChangeSection& s : sections) {
    page.add(fmt::format("\n### {}{}\n", s.red ? "Red: " : "", cell_text(title_of(s))));
    for (const ChangeLine& line : s.lines) {
      page.add(fmt::format("- {}", cell_text(line.text)));
      if (!line.proof.empty()) page.add(code_block(line.proof, "text"));
    }
  }
  return page.text(whole);
}

}  // namespace bic::report

#pragma once

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "results_schema/report.h"

namespace bic {

/// Known failures that somebody answers for: a failing case under a waiver is `waived`. A waiver
/// that has expired is as if it were not there.
class Waivers {
 public:
  Waivers() = default;

  /// `today` is the day on which they are read: "2026-12-31". Throws UsageError for a regular
  /// expression that is none.
  Waivers(std::vector<report::WaiverRow> rows, const std::string& today);

  /// The cases as a report lists them, those that failed under a waiver as `waived`; counts them.
  std::vector<report::CaseResult> applied(std::vector<report::CaseResult> cases);
  report::DecoderRow applied(report::DecoderRow row);
  report::ModelRow applied(report::ModelRow row);

  bool cover(const std::string& case_name) const;
  const std::vector<report::WaiverRow>& rows() const { return rows_; }

 private:
  bool covers(std::size_t number, const std::string& case_name) const;
  Status applied(Status status, const std::string& case_name);

  std::vector<report::WaiverRow> rows_;
  std::vector<std::regex> patterns_;  ///< one a row; not used of one with a case
};

/// Reads a file of waivers (docs/waivers.md). Throws UsageError that says what is wrong in which
/// one.
Waivers load_waivers(const std::filesystem::path& file, const std::string& today);

/// The day that --today names; without one the clock's, in UTC. Throws UsageError for another text.
std::string day(const std::string& text);

/// Says of each waiver of a judged report what came of it. When the report has all the cases that
/// they are for, one of which none failed is red, and so are those of its cases that passed.
void settle_waivers(report::Report& report, bool has_all_cases);

/// For each kind of `waived` failure, of which none stands in the report any more, a red case of
/// that kind: as it was found.
std::vector<report::Failure> behind_waivers(const report::Report& report,
                                            const std::vector<report::Failure>& waived);

}  // namespace bic

#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/prepare.h"
#include "results_schema/report.h"

namespace bic {

/// Evidence on one op in one dtype, problem by problem.
class Evidence {
 public:
  /// Of the relations that are required of the cell's variants.
  explicit Evidence(const Cell& cell);

  /// Counts the judged cases of one problem; `results` is in the order of `prepared.cases`.
  void add(const Prepared& prepared, const std::vector<report::CaseResult>& results);
  void note_error(std::optional<std::int64_t> worst_ppm);

  /// The row: level held, counters, the first relation that failed or is unproved. `target` is the
  /// level asked for.
  report::OpRow row(Level target) const;

 private:
  const OpSpec& op_;
  report::OpRow row_;
  /// Relations with cases in the manifests, and with cases outside them: of given outputs in the
  /// backend's, of any kind in the peer's.
  std::set<std::string, std::less<>> within_, outside_;
};

/// Problems whose agreement a level needs, of each required relation.
inline constexpr std::int64_t kEnoughProblems = 5;

/// Number of cases with a red status.
std::int64_t count_red(const report::Counters& cases);

/// Level, exit code and the one line for people, from the rows.
report::Verdict make_verdict(const report::Report& report, Level target, std::int64_t ops_total);

}  // namespace bic

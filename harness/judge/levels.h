#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/plan/prepare.h"
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
  std::int64_t enough_;
  report::OpRow row_;
  /// Relations with cases in the manifests, and with cases outside them: of forms that the backend
  /// does not claim, of any kind in the peer's.
  std::set<std::string, std::less<>> within_, outside_;
};

/// Problems whose agreement a level needs, of each required relation; of a full-size model one.
inline constexpr std::int64_t kEnoughProblems = 5;

/// Whether the relation holds on enough problems, none of its cases red or waived.
bool proved(const report::RelationRow& row, std::int64_t enough = kEnoughProblems);

/// What the row must show of the peer; null where there is none or it has not got the op.
const report::RelationRow* peer_row(const report::OpRow& row);

}  // namespace bic

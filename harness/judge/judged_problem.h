#pragma once

#include <memory>
#include <optional>

#include "harness/plan/prepare.h"
#include "results_schema/journal.h"

namespace bic {

/// A problem, run and judged: in this run, or earlier and read from its journal.
struct JudgedProblem {
  /// Of one from a journal only problem, cases and whether it told samples apart; no samples.
  std::unique_ptr<Prepared> prepared;
  report::ProblemRecord record;
  std::optional<PlannedTrial> timed;  ///< the trial of `record.timed`; empty for one from a journal
};

/// What a journal says of a problem, without drawing or running it again.
std::unique_ptr<JudgedProblem> recall(report::ProblemRecord record);

}  // namespace bic

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/judge/judge.h"
#include "harness/plan/plan.h"
#include "harness/plan/selection.h"

namespace bic::fake {

/// The fake worker with that behaviour, in a child process or in a thread of this one.
WorkerLaunch launch(const std::string& behaviour, bool isolated);

/// The first counting (or accuracy) problem that `text` selects, with its cases.
std::unique_ptr<Prepared> first_problem(const SelectionText& text, bool accuracy = false);

/// The cases of one problem, judged.
struct Judged {
  std::unique_ptr<Prepared> prepared;
  std::vector<report::CaseResult> results;

  /// Of the cases of `relation`; of all when it is empty.
  std::multiset<Status> statuses(std::string_view relation = "") const;
  /// Results with that status.
  std::vector<report::CaseResult> with(Status status) const;
  std::set<std::string_view> red_relations() const;
};

/// Runs the sweep of `prepared` on the fake worker and judges its cases, as a run does.
Judged judge_all(std::unique_ptr<Prepared> prepared, const WorkerLaunch& launch);

/// The report's text without what a clock or the command line says.
std::string timeless(report::Report report);

}  // namespace bic::fake

#pragma once

#include <functional>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "harness/judge/judging.h"

namespace bic {

/// The most trials that are run to make one failure smaller.
inline constexpr int kMostShrinkTrials = 300;

/// Makes failing cases smaller, on workers of its own: what the judged one has seen stays what the
/// plan says.
class Shrinker {
 public:
  explicit Shrinker(WorkerLaunch launch) : launch_(std::move(launch)) {}

  /// The smallest case near `found` that fails in the same way (status and first reason), when it
  /// is run alone in a new worker as `repro` does; and what else holds on its problem. Dims,
  /// batch, position, options and law go down one after the other until none of them can, or the
  /// trials are used up. A function of the case and of the backend, never of a clock.
  ///
  /// Where that is not to be had (a case that costs a worker each time, or does not fail alone)
  /// the failure is the one found, with a note. `results` is in the order of `prepared.cases`.
  report::Failure shrink(const Prepared& prepared,
                         const std::vector<report::CaseResult>& results,
                         const report::CaseResult& found,
                         const Promise& promise);

 private:
  void make_smaller(const Prepared& prepared,
                    const report::CaseResult& found,
                    const Promise& promise,
                    report::Failure& failure);
  report::CaseResult judge_anew(const CaseName& name, const Promise& promise);
  void describe(const CaseName& name,
                std::vector<std::int64_t> batches,
                const Promise& promise,
                report::Failure& failure);

  WorkerLaunch launch_;
  std::unique_ptr<Stage> stage_;  ///< started with the first failure
};

/// The failures of one op in one dtype that are shown and made smaller: the first of each status
/// and reason; where bits differ, of each relation too, unless it already fails on the problem of a
/// smaller one.
class Failures {
 public:
  /// `shrinker` is null where nothing is to be made smaller; it must outlive this. `stopped` is
  /// asked before each.
  Failures(Shrinker* shrinker, std::function<bool()> stopped)
      : shrinker_(shrinker), stopped_(std::move(stopped)) {}

  /// The new ones among the judged cases of a problem.
  std::vector<report::Failure> of(const Prepared& prepared,
                                  const std::vector<report::CaseResult>& results,
                                  const Promise& promise);

  /// Takes note of a problem that was judged before, whose new ones were `failures`.
  void recall(const Prepared& prepared,
              const std::vector<report::CaseResult>& results,
              const std::vector<report::Failure>& failures);

  /// Whether the run was cut before one of them was made smaller.
  bool cut() const { return cut_; }

 private:
  /// Status, first reason and, for reasons that lie between two trials, relation.
  using Kind = std::tuple<Status, std::optional<Reason>, std::string>;

  static Kind kind_of(const report::CaseResult& found, std::string_view relation);
  void add_relations(const Kind& kind, const report::Failure& failure);

  report::Failure failure_of(const Prepared& prepared,
                             const std::vector<report::CaseResult>& results,
                             const report::CaseResult& found,
                             const Promise& promise);

  Shrinker* shrinker_;
  std::function<bool()> stopped_;
  std::set<Kind> known_;
  bool cut_ = false;
};

}  // namespace bic

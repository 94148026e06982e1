#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "harness/judge/compare.h"
#include "harness/judge/stage.h"
#include "results_schema/report.h"

namespace bic {

/// What a backend promises of an op in a dtype, from its manifest.
struct Promise {
  Arithmetic arithmetic;
  std::vector<std::string> own;  ///< overloads of its own; one must have run in each trial
  std::vector<Form> lacks;       ///< forms that it does not claim
  /// The peer's; null where there is no peer or it does not claim the op.
  std::shared_ptr<const Promise> peer;
};

inline bool runs_on_peer(const PlannedTrial& t) { return t.trial.worker == kPeerWorker; }

/// Judges the cases of one problem by the results of its trials.
class Judge {
 public:
  /// `rerun` runs a trial of the problem once more.
  Judge(Prepared& prepared,
        const Promise& promise,
        const std::map<PlannedTrial, TrialResult>& results,
        bool second_process,
        std::function<TrialResult(const PlannedTrial&)> rerun);

  report::CaseResult judge(const Case& c);

  /// Largest error seen as a share of its bound, in ppm; empty when none was measured.
  std::optional<std::int64_t> worst_error_ppm() const { return worst_; }

 private:
  struct Findings {
    std::set<Reason> reasons;
    report::Detail detail;
    bool unstable = false;
  };

  bool judge_ends(const Case& c, report::CaseResult& result) const;
  const Promise& promise_of(const PlannedTrial& trial) const;
  void check_reply(const PlannedTrial& trial, const TrialResult& r, Findings& f) const;
  void compare(const Case& c, Findings& f);
  void compare_slots(const Case& c, const TrialResult& a, const TrialResult& b, Findings& f) const;
  bool compare_blocks(const TrialResult& a,
                      std::int64_t at_a,
                      const TrialResult& b,
                      std::int64_t at_b,
                      Findings& f) const;
  void describe(const Difference& d, Findings& f) const;
  void check_accuracy(const PlannedTrial& trial, const Trial& named, Findings& f);
  bool disagrees_with_itself(const PlannedTrial& trial);
  void check_vacuous(const Case& c, report::CaseResult& result) const;
  std::optional<Reason> unproved(const Case& c) const;
  bool mostly_non_finite(const Case& c) const;
  std::vector<std::byte> block(const TrialResult& r, std::int64_t slot) const;
  std::int64_t slot_of(const PlannedTrial& trial, const Trial& named) const;

  Prepared& prepared_;
  const Promise& promise_;
  const std::map<PlannedTrial, TrialResult>& results_;
  bool second_process_;
  std::function<TrialResult(const PlannedTrial&)> rerun_;
  int output_axis_;                         ///< of the batch; -1 without one
  std::vector<std::int64_t> output_block_;  ///< shape of a sample's
  std::optional<std::int64_t> worst_;
  std::map<PlannedTrial, bool> disagrees_;  ///< with itself, for trials that were run again
  /// Blocks of a sample that held the bound: equal bytes need no second look.
  std::map<SampleId, std::vector<std::vector<std::byte>>> accurate_;
};

/// Smallest batch at which a failing `alone` case of each sample is found, written into the details
/// of all cases that failed by bits.
void note_where_it_starts(const Prepared& prepared, std::vector<report::CaseResult>& results);

}  // namespace bic

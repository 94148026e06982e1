#pragma once

#include <functional>
#include <set>
#include <string>

#include "harness/judge/judging.h"

namespace bic {

/// Whether a case failed in the way of `found`: the same status, and its first reason among the
/// reasons.
bool fails_alike(const report::CaseResult& result, const report::CaseResult& found);

/// A greedy search for a smaller case that still fails: each step lowers one number of the case as
/// far as it goes, by halving what lies between a value that fails and one that does not.
class ShrinkSearch {
 public:
  /// At most `most` trials are run, on `stage`. All three references must outlive the search.
  ShrinkSearch(Stage& stage, const Promise& promise, const report::CaseResult& found, int most);

  /// Steps until none of them gets further, the trials are used up, or a worker has died.
  void run();

  /// Whether the case that was found fails when it is run alone.
  bool failed_alone() const { return result_.has_value(); }

  const CaseName& smallest() const { return current_; }
  int trials() const { return trials_; }

 private:
  using Change = std::function<void(CaseName&, std::int64_t)>;

  bool lower_all();
  void lower_dims();
  void lower_place();
  void lower_options();
  bool take_simpler_law();
  void lower(std::int64_t least, std::int64_t now, const Change& change);
  bool accept(const CaseName& candidate);
  bool accept_of_any_sample(CaseName candidate);
  std::vector<SampleId> others_than(SampleId sample) const;
  std::optional<report::CaseResult> try_to_judge(const CaseName& candidate);
  std::optional<report::CaseResult> judge(const CaseName& candidate);

  Stage& stage_;
  const Promise& promise_;
  const report::CaseResult& found_;
  CaseName current_;
  std::optional<report::CaseResult> result_;  ///< of the current case
  std::vector<SampleId> telling_;             ///< of the candidate last run; empty for none
  std::set<std::string> tried_;
  int left_;  ///< trials that may still be run
  int trials_ = 0;
  bool died_ = false;
};

}  // namespace bic

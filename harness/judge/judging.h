#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/judge.h"

namespace bic {

/// What the manifest promises of an op in a dtype; empty when it does not claim it.
std::optional<Promise> promise_of(const protocol::Hello& hello, const std::string& op, DType dtype);

/// Why it does not: the backend's reason, where it has one.
std::string why_unclaimed(const protocol::Hello& hello, const std::string& op);

/// What the stage's backend promises, and its peer.
std::optional<Promise> promise_of(Stage& stage, const std::string& op, DType dtype);

/// What the trials of a problem gave and what its cases come to, in their order.
struct Judged {
  std::map<PlannedTrial, TrialResult> results;
  std::vector<report::CaseResult> cases;
  std::optional<std::int64_t> worst_error_ppm;
  std::int64_t killed_workers = 0;  ///< for which the problem was run again
};

/// Runs all trials of a problem and judges its cases, undisturbed.
Judged run_and_judge(Stage& stage, Prepared& p, const Promise& promise);

}  // namespace bic

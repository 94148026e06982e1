#include <fmt/format.h>

#include <algorithm>

#include "adapters/protocol/gather.h"
#include "harness/judge/judge.h"

// What a trial shows by itself: how it ended and what the worker says of it.

namespace bic {
namespace {

/// Laws whose outputs may rightly be NaN, so that poison cannot be told from a result.
bool may_give_nan(const Problem& p, const PlannedTrial& t) {
  const auto wild = [](Law law) {
    return law == Law::kSpecial || law == Law::kNan || law == Law::kInf || law == Law::kHuge ||
           law == Law::kSweep;
  };
  return t.trial.pad_nan || wild(p.law) || (t.neighbour_law && wild(*t.neighbour_law));
}

/// Why a trial has no output to judge; "" when it has.
std::string end_text(const TrialResult& r) {
  if (r.death) return r.death->message;
  if (r.blocked) return "the worker had died too often in this problem";
  return r.reply.outcome == protocol::Outcome::kRan ? "" : r.reply.message;
}

}  // namespace

/// Cases whose trials did not both run to their end; true when that is the whole verdict.
bool Judge::judge_ends(const Case& c, report::CaseResult& result) const {
  using protocol::Outcome;
  const auto end = [&](Status status, std::optional<Reason> reason, const std::string& message) {
    result.status = status;
    if (reason) result.reasons = {*reason};
    result.detail = report::Detail{.message = message};
    return true;
  };
  const Form form = c.trial.trial.form;
  if (std::ranges::find(promise_.lacks, form) != promise_.lacks.end()) {
    return end(Status::kUnsupported, {}, fmt::format("form '{}' is not claimed", name(form)));
  }
  if (c.against && runs_on_peer(*c.against) && promise_.peer == nullptr) {
    return end(Status::kUnsupported, {}, "outside the peer's manifest");
  }
  const TrialResult& a = results_.at(c.trial);
  if (a.death) return end(a.death->status, a.death->reason, a.death->message);
  if (a.blocked) return end(Status::kBlocked, {}, end_text(a));
  if (a.reply.outcome == Outcome::kRefused) return end(Status::kRefused, {}, a.reply.message);
  if (a.reply.outcome == Outcome::kException) {
    return end(Status::kCrash, Reason::kException, a.reply.message);
  }
  if (!c.against) return false;
  const TrialResult& b = results_.at(*c.against);
  if (!b.death && !b.blocked && b.reply.outcome == Outcome::kRan) return false;
  return end(
      Status::kBlocked,
      {},
      fmt::format("{} did not run to its end: {}", to_string(*c.named_against), end_text(b)));
}

const Promise& Judge::promise_of(const PlannedTrial& trial) const {
  return runs_on_peer(trial) ? *promise_.peer : promise_;
}

void Judge::check_reply(const PlannedTrial& trial, const TrialResult& r, Findings& f) const {
  const auto& pool = *prepared_.pool;
  const auto plan =
      protocol::plan_tensor(pool.problem(), pool.problem().output, pool.request(trial));
  if (r.reply.dtype != name(prepared_.problem.output_dtype())) {
    f.reasons.insert(Reason::kDtype);
    f.detail.message = "the output is " + r.reply.dtype;
  }
  if (r.reply.shape != plan.shape) {
    f.reasons.insert(Reason::kShape);
    f.detail.message = fmt::format("the output's shape is [{}], expected [{}]",
                                   fmt::join(r.reply.shape, ","),
                                   fmt::join(plan.shape, ","));
  }
  if (r.reply.unwritten > 0 && !may_give_nan(prepared_.problem, trial)) {
    f.reasons.insert(Reason::kStaleOutput);
    f.detail.message =
        std::to_string(r.reply.unwritten) + " elements of the output were not written";
  }
  if (r.reply.input_changed) f.reasons.insert(Reason::kInputChanged);
  if (r.reply.out_of_bounds) f.reasons.insert(Reason::kOutOfBounds);
  const auto reached = [&](const std::string& overload) {
    return std::ranges::find(r.reply.witness.reached, overload) != r.reply.witness.reached.end();
  };
  const std::vector<std::string>& own = promise_of(trial).own;
  if (!own.empty() && std::ranges::none_of(own, reached)) {
    f.reasons.insert(Reason::kNotCalled);
    f.detail.message =
        fmt::format("none of the {}'s own overloads ran", runs_on_peer(trial) ? "peer" : "backend");
  }
}

}  // namespace bic

#include "harness/selftest/hunt.h"

#include <algorithm>

#include "harness/judge/judging.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

bool as_promised(const report::CaseResult& r, const faults::Fault& fault) {
  return r.status == fault.status &&
         (!fault.reason || std::ranges::find(r.reasons, *fault.reason) != r.reasons.end());
}

bool inaccurate(const report::CaseResult& r) {
  return std::ranges::find(r.reasons, Reason::kAccuracy) != r.reasons.end();
}

/// Whether the hunt runs the relation: those of the catalog, or all where none of them is left.
bool runs(const faults::Fault& fault, const HuntOptions& options, std::string_view relation) {
  const auto left_out = [&](std::string_view r) {
    return options.without.contains(std::string(r));
  };
  if (left_out(relation)) return false;
  if (options.full || std::ranges::all_of(fault.relations, left_out)) return true;
  return std::ranges::find(fault.relations, relation) != fault.relations.end();
}

Selection selection_of(const faults::Fault& fault, const HuntOptions& options, const OpSpec& op) {
  Selection s;
  s.ops = {&op};
  s.dtypes = fault.dtypes;
  for (const Relation& r : relations()) {
    if (runs(fault, options, r.name)) s.relations.push_back(&r);
  }
  s.accuracy = runs(fault, options, kAccuracyRelation);
  s.filtered = true;
  return s;
}

/// The law that a case tries: its neighbours', where they follow one of their own.
Law law_of(const Case& c, const Problem& problem) {
  if (c.trial.neighbour_law) return *c.trial.neighbour_law;
  return c.against && c.against->neighbour_law ? *c.against->neighbour_law : problem.law;
}

/// Counts the cases of one problem.
void take(const Prepared& p, const std::vector<report::CaseResult>& results, Hunt& h) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    ++h.ops.back().judged;
    if (h.fault->keeps_accuracy && inaccurate(results[i])) ++h.inaccurate;
    if (!as_promised(results[i], *h.fault)) continue;
    const Case& c = p.cases[i];
    ++h.kills[{law_of(c, p.problem), std::string(c.relation)}];
    if (!h.ops.back().kill) h.ops.back().kill = Kill{c.name, std::string(c.relation)};
  }
}

void hunt_on(const OpSpec& op, Stage& stage, const HuntOptions& options, Hunt& h) {
  h.ops.push_back({.op = op.name, .kill = {}});
  const Selection selection = selection_of(*h.fault, options, op);
  for (const Cell& cell : make_plan(selection, Strength::kQuick)) {
    const auto promise = promise_of(stage.hello(), op.name, cell.dtype);
    if (!promise) continue;
    for (const ProblemPlan& plan : cell.problems) {
      if (options.stopped() || (h.ops.back().kill && !options.full)) return;
      if (options.without.contains(std::string(name(plan.law)))) continue;
      const auto p = prepare(plan, selection, options.seed);
      if (!p->cases.empty()) take(*p, run_and_judge(stage, *p, *promise).cases, h);
    }
  }
}

}  // namespace

bool Hunt::killed() const {
  return !ops.empty() &&
         std::ranges::all_of(ops, [](const OpHunt& o) { return o.kill.has_value(); });
}

std::vector<std::string> Hunt::blind(const HuntOptions& options) const {
  std::vector<std::string> blind;
  if (!options.full || !options.without.empty() || !options.ops.empty()) return blind;
  for (std::string_view relation : fault->relations) {
    const bool sees =
        std::ranges::any_of(kills, [&](const auto& k) { return k.first.second == relation; });
    if (!sees) blind.emplace_back(relation);
  }
  return blind;
}

std::vector<const OpSpec*> ops_of(const faults::Fault& fault, const HuntOptions& options) {
  std::vector<const OpSpec*> ops;
  for (std::string_view name : fault.ops) {
    const OpSpec* op = find_op(name);
    const bool wanted =
        options.ops.empty() || std::ranges::find(options.ops, op) != options.ops.end();
    if (op != nullptr && wanted) ops.push_back(op);
  }
  return ops;
}

Hunt hunt(const faults::Fault& fault, const WorkerLaunch& launch, const HuntOptions& options) {
  Hunt h{.fault = &fault, .seed = options.seed, .ops = {}, .kills = {}};
  Stage stage(launch);
  for (const OpSpec* op : ops_of(fault, options)) hunt_on(*op, stage, options, h);
  return h;
}

}  // namespace bic

#include "harness/judge/control_tally.h"

#include <algorithm>

namespace bic {
namespace {

/// As reports name it; pointwise ops have one other evaluation instead of orders.
std::string control_name(const Problem& problem, Order order) {
  if (problem.op->control == ControlKind::kTail) return "other-evaluation";
  switch (order) {
    case Order::kReversed:
      return "reversed";
    case Order::kHalves:
      return "halves";
    case Order::kLanes16:
      return "lanes16";
    case Order::kPairwise:
      return "pairwise";
    case Order::kSequential:
      break;
  }
  return "sequential";
}

report::ControlRow& row_of(report::Controls& controls, Law law) {
  const auto at = std::ranges::lower_bound(controls.laws, law, {}, &report::ControlRow::law);
  if (at != controls.laws.end() && at->law == law) return *at;
  return *controls.laws.insert(at, {.law = law});
}

}  // namespace

void add_draws(report::Controls& controls, const Prepared& prepared) {
  controls.searched += prepared.telling.searched;
  ++controls.drawn;
  controls.redrawn += prepared.redraws;
  controls.vacuous += !prepared.telling.told_apart;
  for (const Draw& draw : prepared.draws) {
    if (!draw.searched) continue;
    report::ControlRow& row = row_of(controls, draw.law);
    ++row.problems;
    row.vacuous += !draw.told_apart;
    row.compared += draw.compared;
    for (const auto& [order, changed] : draw.changed) {
      row.changed[control_name(prepared.problem, order)] += changed;
    }
  }
}

void add_controls(report::Controls& sum, const report::Controls& part) {
  sum.searched += part.searched;
  sum.drawn += part.drawn;
  sum.redrawn += part.redrawn;
  sum.vacuous += part.vacuous;
  for (const report::ControlRow& law : part.laws) {
    report::ControlRow& row = row_of(sum, law.law);
    row.problems += law.problems;
    row.vacuous += law.vacuous;
    row.compared += law.compared;
    for (const auto& [control, changed] : law.changed) row.changed[control] += changed;
  }
}

}  // namespace bic

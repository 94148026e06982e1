#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  // The engine lets the second worker see the sample first where the first worker did not: alone
  // when that one began with the largest batch, and the other way round.
  std::vector<TrialPair> all;
  for (Trial t : {alone(probe.telling[0]), placed(probe, probe.largest(), 0)}) {
    Trial elsewhere = t;
    elsewhere.worker = 1;
    if (all.empty() || all.back().against != t) all.push_back({elsewhere, t, {}});
  }
  return all;
}

}  // namespace

Relation fresh() {
  return {.name = "fresh",
          .level = Level::kRepeatable,
          .claim = "a second process, which sees the samples in another order, gives the same bits",
          .required = [](const OpSpec&, const Variant&) { return true; },
          .pairs = pairs};
}

}  // namespace bic

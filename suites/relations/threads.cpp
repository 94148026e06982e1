#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  // The largest batch: small work opens no parallel region, and then there is nothing to see.
  const Trial t = placed(probe, probe.largest(), 0);
  std::vector<TrialPair> all;
  for (int count : {1, 2, 3, 4, 8, -1}) {
    Trial threaded = t;
    threaded.threads = count;
    all.push_back({threaded, t, {}});
  }
  return all;
}

}  // namespace

Relation threads() {
  return {.name = "threads",
          .level = Level::kSchedule,
          .claim = "bits do not depend on the number of threads",
          .required = [](const OpSpec&, const Variant&) { return true; },
          .pairs = pairs};
}

}  // namespace bic

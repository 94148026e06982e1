#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  for (std::int64_t wanted : {2, 5, 17, 33, 129}) {
    const std::int64_t batch = batch_near(probe, wanted);
    if (batch == 0) continue;
    Trial t = alone(probe.telling[all.size() % probe.telling.size()]);
    const Trial single = t;
    t.batch = batch;
    t.company = Company::kTwins;
    if (all.empty() || all.back().trial.batch != batch) all.push_back({t, single, {}});
  }
  return all;
}

}  // namespace

Relation twins() {
  return {.name = "twins",
          .level = Level::kBatch,
          .claim = "copies of one sample in a batch all have the same bits",
          .required = [](const OpSpec&, const Variant& v) { return has_batch(v); },
          .pairs = pairs};
}

}  // namespace bic

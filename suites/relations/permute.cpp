#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  for (std::int64_t wanted : {3, 33, 128}) {
    const std::int64_t batch = batch_near(probe, wanted);
    if (batch == 0) continue;
    const Trial straight = placed(probe, batch, all.size());
    Trial permuted = straight;
    permuted.permutation = static_cast<int>(all.size()) + 1;
    if (all.empty() || all.back().trial.batch != batch) all.push_back({permuted, straight, {}});
  }
  return all;
}

}  // namespace

Relation permute() {
  return {.name = "permute",
          .level = Level::kComposition,
          .claim = "every sample of a batch keeps its bits when the batch is reordered",
          .required = [](const OpSpec&, const Variant& v) { return has_batch(v); },
          .pairs = pairs};
}

}  // namespace bic

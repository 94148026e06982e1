#include "suites/relations/declarations.h"

namespace bic {
namespace {

/// Each telling sample at every batch size.
std::vector<TrialPair> every_size(const Probe& probe, std::size_t samples) {
  std::vector<TrialPair> all;
  for (std::size_t which = 0; which < samples; ++which) {
    for (std::int64_t batch : probe.batches) {
      if (batch == 1) continue;
      all.push_back({placed(probe, batch, which), alone(probe.telling[which]), {}});
    }
  }
  return all;
}

std::vector<TrialPair> pairs(const Probe& probe) {
  if (!probe.sweeps) return every_size(probe, probe.telling.size());
  // Every input once in a vector body (inside the largest batch) and once in a tail (alone).
  std::vector<TrialPair> all = every_size(probe, 1);
  for (std::size_t which = 0; which < probe.telling.size(); ++which) {
    if (probe.largest() == 1) break;
    const Trial t = placed(probe, probe.largest(), which);
    if (which > 0) all.push_back({t, alone(probe.telling[which]), {}});
  }
  return all;
}

}  // namespace

Relation alone_relation() {
  return {.name = "alone",
          .level = Level::kBatch,
          .claim = "a sample has the same bits alone and in a batch of any size, at any position",
          .required = [](const OpSpec&, const Variant& v) { return has_batch(v); },
          .pairs = pairs};
}

}  // namespace bic

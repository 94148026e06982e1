#include <algorithm>

#include "suites/relations/declarations.h"

namespace bic {
namespace {

/// Adds the trial on both backends, unless it is there.
void add(std::vector<TrialPair>& all, const Trial& t) {
  if (std::ranges::find(all, t, &TrialPair::trial) != all.end()) return;
  Trial elsewhere = t;
  elsewhere.worker = kPeerWorker;
  all.push_back({t, elsewhere, {}});
}

/// Alone, then in batches of several sizes: a trainer and its sampler agree on a sample only when
/// they do wherever it stands. A sweep has each of its inputs in a vector body and in a tail.
std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  for (SampleId sample : probe.telling) add(all, alone(sample));
  if (probe.largest() == 1) return all;
  std::size_t which = 0;
  for (std::int64_t wanted : {2, 7, 33, 257}) {
    add(all, placed(probe, batch_near(probe, wanted), which++));
  }
  for (which = 0; probe.sweeps && which < probe.telling.size(); ++which) {
    add(all, placed(probe, probe.largest(), which));
  }
  return all;
}

}  // namespace

Relation peer() {
  return {.name = "peer",
          .level = Level::kNone,
          .claim = "another backend, named with --against, gives the same bits",
          .required = [](const OpSpec&, const Variant&) { return true; },
          .pairs = pairs};
}

}  // namespace bic

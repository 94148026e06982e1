#include "suites/relations/declarations.h"

namespace bic {
namespace {

Trial again(Trial t) {
  t.run = 1;
  return t;
}

std::vector<TrialPair> pairs(const Probe& probe) {
  // Alone first and last in the sweep: state kept between calls lies between the two.
  std::vector<TrialPair> all{{again(alone(probe.telling[0])), alone(probe.telling[0]), {}}};
  for (std::int64_t wanted : {7, 64, 257}) {
    const std::int64_t batch = batch_near(probe, wanted);
    if (batch == 0) continue;
    const Trial t = placed(probe, batch, 0);
    if (all.size() < 2 || all.back().against != t) all.push_back({again(t), t, {}});
  }
  return all;
}

}  // namespace

Relation repeat() {
  return {.name = "repeat",
          .level = Level::kRepeatable,
          .claim = "the same trial, run twice in one process, gives the same bits",
          .required = [](const OpSpec&, const Variant&) { return true; },
          .pairs = pairs};
}

}  // namespace bic

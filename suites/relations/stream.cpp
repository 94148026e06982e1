#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  for (const Trial& t : {alone(probe.telling[0]), placed(probe, probe.largest(), 1)}) {
    Trial aside = t;
    aside.form = Form::kStream;
    if (all.empty() || all.back().against != t) all.push_back({aside, t, {}});
  }
  return all;
}

}  // namespace

Relation stream() {
  return {.name = "stream",
          .level = Level::kSchedule,
          .claim = "on a stream of its own, while the device has other work, the bits are the same",
          .required = [](const OpSpec&, const Variant&) { return true; },
          .pairs = pairs};
}

}  // namespace bic

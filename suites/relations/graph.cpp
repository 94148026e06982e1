#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  const auto add = [&](const Trial& direct, int replay) {
    Trial captured = direct;
    captured.form = Form::kGraph;
    captured.run = replay;
    all.push_back({captured, direct, {}});
  };
  // The first replay, and the second, between which another graph is replayed.
  for (const int replay : {0, 1}) add(alone(probe.telling[0]), replay);
  const std::int64_t batch = batch_near(probe, 9);
  if (batch > 0) add(placed(probe, batch, 1), 1);
  return all;
}

}  // namespace

Relation graph() {
  return {.name = "graph",
          .level = Level::kSchedule,
          .claim = "captured into a graph the call gives the same bits at every replay",
          // A whole model reads sizes and masks back between its ops, which a capture forbids.
          .required = [](const OpSpec& op, const Variant&) { return op.suite.empty(); },
          .pairs = pairs};
}

}  // namespace bic

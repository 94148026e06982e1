#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  for (std::int64_t wanted : {0, 2, 9}) {
    const std::int64_t batch = wanted == 0 ? 0 : batch_near(probe, wanted);
    if (wanted != 0 && batch == 0) continue;
    const Trial whole = batch == 0 ? alone(probe.telling[0]) : placed(probe, batch, all.size());
    Trial cut = whole;
    cut.form = Form::kChunk;
    if (all.empty() || all.back().against != whole) all.push_back({cut, whole, {}});
  }
  return all;
}

}  // namespace

Relation chunk() {
  return {
      .name = "chunk",
      .level = Level::kSchedule,
      .claim =
          "rows cut into several calls, the last of one row, get the bits of one call, causal or "
          "not",
      .required = [](const OpSpec&, const Variant& v) { return v.forms.contains("chunk"); },
      .pairs = pairs};
}

}  // namespace bic

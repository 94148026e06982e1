#include <algorithm>

#include "suites/relations/declarations.h"

namespace bic {
namespace {

/// The reduced dim that a mask of the variant runs along, so that what is appended to it is masked
/// out; empty without such a mask.
std::string masked_dim(const Variant& v) {
  for (const TensorSpec& t : v.inputs) {
    if (t.elements != Elements::kBools) continue;
    for (const std::string& dim : v.reduced) {
      if (std::ranges::find(t.axes, dim) != t.axes.end()) return dim;
    }
  }
  return "";
}

bool has_junk(const Variant& v) { return v.forms.contains("junk"); }

/// What the call's masks hide holds junk, in batches whose samples hide different parts.
std::vector<TrialPair> with_junk(const Probe& probe) {
  std::vector<TrialPair> all;
  for (std::int64_t wanted : {1, 3, 9}) {
    const std::int64_t batch = wanted == 1 ? 0 : batch_near(probe, wanted);
    if (wanted != 1 && batch == 0) continue;
    const Trial clean = batch == 0 ? alone(probe.telling[0]) : placed(probe, batch, all.size());
    Trial junk = clean;
    junk.form = Form::kJunk;
    if (all.empty() || all.back().against != clean) all.push_back({junk, clean, {}});
  }
  return all;
}

std::vector<TrialPair> pairs(const Probe& probe) {
  if (has_junk(*probe.variant)) return with_junk(probe);
  std::vector<TrialPair> all;
  const std::string dim = masked_dim(*probe.variant);
  const Trial single = alone(probe.telling[0]);
  for (std::int64_t appended : {1, 8, 61}) {
    for (bool nan : {false, true}) {
      const std::int64_t batch = appended == 8 ? 0 : batch_near(probe, 9);
      Trial padded = batch == 0 ? single : placed(probe, batch, 0);
      padded.pad_dim = dim;
      padded.pad = appended;
      padded.pad_nan = nan;
      all.push_back({padded, single, {}});
    }
  }
  return all;
}

}  // namespace

Relation pad() {
  return {.name = "pad",
          .level = Level::kComposition,
          .claim =
              "a sample keeps its bits when masked padding brings it to a longer batch's "
              "length, be it zeros or NaN, and whatever its own masks hide",
          .required = [](const OpSpec&,
                         const Variant& v) { return has_junk(v) || !masked_dim(v).empty(); },
          .pairs = pairs};
}

}  // namespace bic

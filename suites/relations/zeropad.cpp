#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  const Variant& v = *probe.variant;
  const std::string dim = v.masked.empty() ? v.reduced.front() : v.masked;
  const std::int64_t batch = batch_near(probe, 9);
  for (std::int64_t zeros : {1, 8, 61}) {
    const Trial t = batch == 0 || zeros == 8 ? alone(probe.telling[0]) : placed(probe, batch, 0);
    Trial padded = t;
    padded.pad_dim = dim;
    padded.pad = zeros;
    all.push_back({padded, t, {}});
  }
  return all;
}

}  // namespace

Relation zeropad() {
  return {.name = "zeropad",
          .level = Level::kSchedule,
          .claim =
              "zeros appended to the contracted axis, or masked terms to one that can be masked, "
              "change no bit",
          .required = [](const OpSpec& op,
                         const Variant& v) { return op.contraction || !v.masked.empty(); },
          .pairs = pairs};
}

}  // namespace bic

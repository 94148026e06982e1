#include "suites/relations/declarations.h"

namespace bic {
namespace {

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  for (SampleId sample : probe.telling) {
    Trial vector = alone(sample);
    vector.form = Form::kVector;
    all.push_back({vector, alone(sample), {}});
  }
  return all;
}

}  // namespace

Relation rank() {
  return {.name = "rank",
          .level = Level::kSchedule,
          .claim = "a sample without its batch axis gets the bits of a batch of one",
          .required = [](const OpSpec&, const Variant& v) { return v.forms.contains("vector"); },
          .pairs = pairs};
}

}  // namespace bic

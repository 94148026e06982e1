#include "suites/relations/declarations.h"

namespace bic {
namespace {

void add(std::vector<TrialPair>& all, const Trial& t, Form form, int offset) {
  Trial given = t;
  given.form = form;
  given.offset = offset;
  all.push_back({given, t, {}});
}

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  const std::int64_t small = batch_near(probe, 7), large = batch_near(probe, 64);
  for (Form form : {Form::kOut, Form::kInplace}) {
    if (!probe.variant->forms.contains(std::string(name(form)))) continue;
    add(all, alone(probe.telling[0]), form, 0);
    if (small > 0) add(all, placed(probe, small, 0), form, 3);
    if (large > small) add(all, placed(probe, large, 1), form, 0);
  }
  return all;
}

}  // namespace

Relation forms() {
  return {.name = "forms",
          .level = Level::kComposition,
          .claim = "a given output and an in-place call get the bits of the functional call",
          .required =
              [](const OpSpec&, const Variant& v) {
                return v.forms.contains("out") || v.forms.contains("inplace");
              },
          .pairs = pairs};
}

}  // namespace bic

#include "suites/relations/declarations.h"

namespace bic {
namespace {

TrialPair with_others(const Probe& probe,
                      std::int64_t batch,
                      std::size_t which,
                      std::optional<Law> law) {
  const Trial t = placed(probe, batch, which);
  Trial others = t;
  others.neighbours = 1;
  return {others, t, law};
}

std::vector<TrialPair> pairs(const Probe& probe) {
  std::vector<TrialPair> all;
  for (std::int64_t wanted : {4, 65}) {
    const std::int64_t batch = batch_near(probe, wanted);
    if (batch == 0 || (!all.empty() && all.back().trial.batch == batch)) continue;
    all.push_back(with_others(probe, batch, all.size(), {}));
  }
  const std::int64_t sizes[] = {3, 8, 16, 31, 64};
  std::size_t next = 0;
  for (Law law : {Law::kSpecial, Law::kNan, Law::kInf, Law::kDenormal, Law::kHuge}) {
    const std::int64_t batch = batch_near(probe, sizes[next]);
    if (batch > 0) all.push_back(with_others(probe, batch, next, law));
    ++next;
  }
  return all;
}

}  // namespace

Relation neighbours() {
  return {.name = "neighbours",
          .level = Level::kComposition,
          .claim = "a sample keeps its bits whatever its neighbours hold, NaN and Inf included",
          .required = [](const OpSpec&, const Variant& v) { return has_batch(v); },
          .pairs = pairs};
}

}  // namespace bic

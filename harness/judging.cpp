#include "harness/judging.h"

#include <algorithm>

namespace bic {

std::optional<Promise> promise_of(const protocol::Hello& hello,
                                  const std::string& op,
                                  DType dtype) {
  for (const protocol::ManifestEntry& e : hello.manifest) {
    if (e.op != op) continue;
    if (std::ranges::find(e.dtypes, dtype) == e.dtypes.end()) return {};
    const auto at = e.arithmetic.find(dtype);
    return Promise{at == e.arithmetic.end() ? Arithmetic{} : at->second, e.own, e.lacks};
  }
  return {};
}

Judged run_and_judge(Stage& stage, Prepared& p, const Promise& promise) {
  Judged judged{.results = sweep(stage, p), .cases = {}, .worst_error_ppm = {}};
  Judge judge(p, promise, judged.results, stage.isolated(), [&](const PlannedTrial& t) {
    return stage.run(t);
  });
  for (const Case& c : p.cases) judged.cases.push_back(judge.judge(c));
  judged.worst_error_ppm = judge.worst_error_ppm();
  return judged;
}

}  // namespace bic

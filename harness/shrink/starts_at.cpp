#include <algorithm>

#include "harness/judge/judge.h"

namespace bic {

void note_where_it_starts(const Prepared& prepared, std::vector<report::CaseResult>& results) {
  std::map<SampleId, std::int64_t> starts;
  const auto by_bits = [](const report::CaseResult& r) {
    return std::ranges::find(r.reasons, Reason::kBits) != r.reasons.end();
  };
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Trial& t = prepared.cases[i].named;
    if (prepared.cases[i].relation != "alone" || !by_bits(results[i])) continue;
    const auto [at, added] = starts.try_emplace(t.sample, t.batch);
    if (!added) at->second = std::min(at->second, t.batch);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto at = starts.find(prepared.cases[i].named.sample);
    if (at != starts.end() && by_bits(results[i]) && results[i].detail) {
      results[i].detail->starts_at_batch = at->second;
    }
  }
}

}  // namespace bic

#include "results_schema/render/html/bit_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "results_schema/case_name.h"

namespace bic::report {
namespace {

struct Seen {
  std::int64_t batch = 1, position = 0;
  std::string bits;  ///< digest; "" for those of the sample alone
  bool has_output = true;
};

/// By sample.
using Problem = std::map<SampleId, std::vector<Seen>>;

bool differs(const CaseResult& r) {
  return std::ranges::any_of(
      r.reasons, [](Reason why) { return why == Reason::kBits || why == Reason::kNanBits; });
}

/// The cases of `alone`, by what their problem is.
std::map<std::string, Problem> problems_of(const std::vector<const CaseResult*>& cases) {
  std::map<std::string, Problem> problems;
  for (const CaseResult* r : cases) {
    if (r->case_name.find(".alone/") == std::string::npos) continue;
    CaseName c = parse_case_name(r->case_name);
    const Trial trial = c.trials.front();
    c.trials = {Trial{}};
    const std::string bits = differs(*r) ? r->digest : "";
    problems[to_string(c)][trial.sample].push_back(
        {trial.batch, trial.position, bits, !r->digest.empty()});
  }
  return problems;
}

void put(BitMap& map, std::pair<std::int64_t, std::int64_t> at, int bits) {
  const auto rank = [](int b) { return b == BitMap::kNoOutput ? 1 << 30 : b; };
  BitMap::Cell& cell = map.cells[at];
  ++cell.cases;
  if (rank(bits) > rank(cell.bits)) cell.bits = bits;
}

BitMap map_of(Problem problem) {
  BitMap map;
  for (auto& [sample, seen] : problem) {
    std::ranges::stable_sort(seen, {}, &Seen::batch);
    std::map<std::string, int> number{{"", 0}};
    put(map, {1, 0}, 0);
    for (const Seen& s : seen) {
      const int next = static_cast<int>(number.size());
      const int bits =
          s.has_output ? number.try_emplace(s.bits, next).first->second : BitMap::kNoOutput;
      put(map, {s.batch, s.position}, bits);
    }
  }
  for (const auto& [at, cell] : map.cells) {
    if (cell.bits == 0) continue;
    ++map.different;
    if (!map.first_batch) map.first_batch = at.first;
  }
  return map;
}

/// "k4096,n1024 fill=cancel".
std::string problem_text(const std::string& text) {
  const CaseName c = parse_case_name(text);
  std::vector<std::string> words;
  if (!c.variant.empty()) words.push_back(c.variant);
  std::vector<std::string> dims;
  for (const auto& [dim, extent] : c.dims) dims.push_back(fmt::format("{}{}", dim, extent));
  if (!dims.empty()) words.push_back(fmt::format("{}", fmt::join(dims, ",")));
  for (const auto& [attribute, value] : c.attributes) {
    words.push_back(fmt::format("{}={}", attribute, value));
  }
  words.push_back(fmt::format("fill={}", name(c.fill)));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::optional<BitMap> bit_map(const std::vector<const CaseResult*>& cases) {
  std::optional<BitMap> most;
  std::int64_t differing = 0;
  const std::map<std::string, Problem> problems = problems_of(cases);
  for (const auto& [text, problem] : problems) {
    BitMap map = map_of(problem);
    if (map.different == 0) continue;
    ++differing;
    if (most && map.different <= most->different) continue;
    map.problem = problem_text(text);
    most = std::move(map);
  }
  if (most) {
    most->problems = static_cast<std::int64_t>(problems.size());
    most->differing_problems = differing;
  }
  return most;
}

}  // namespace bic::report

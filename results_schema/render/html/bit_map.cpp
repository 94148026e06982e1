#include "results_schema/render/html/bit_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "results_schema/case_name.h"

namespace bic::report {
namespace {

struct Seen {
  std::int64_t batch = 1, position = 0;
  std::optional<std::string> bits;  ///< "" for those of the sample alone; empty without output
};

/// By sample.
using Problem = std::map<SampleId, std::vector<Seen>>;

bool differs(const CaseResult& r) {
  return std::ranges::any_of(
      r.reasons, [](Reason why) { return why == Reason::kBits || why == Reason::kNanBits; });
}

/// Whether the backend was asked in the batch and alone, and its answer was judged.
bool ran(Status s) {
  return s != Status::kUnsupported && s != Status::kSkipped && s != Status::kError &&
         s != Status::kBlocked;
}

/// A case that passed has the bits of the sample alone, whether or not its digest was kept.
std::optional<std::string> bits_of(const CaseResult& r) {
  if (differs(r)) return "other " + r.digest;
  const bool passed = r.status == Status::kPass || r.status == Status::kVacuous ||
                      r.status == Status::kUnexpectedPass;
  if (passed || !r.digest.empty()) return "";
  return std::nullopt;
}

/// The cases of `alone` that ran, by what their problem is.
std::map<std::string, Problem> problems_of(const std::vector<const CaseResult*>& cases) {
  std::map<std::string, Problem> problems;
  for (const CaseResult* r : cases) {
    if (!ran(r->status) || r->case_name.find(".alone/") == std::string::npos) continue;
    CaseName c = parse_case_name(r->case_name);
    const Trial trial = c.trials.front();
    c.trials = {Trial{}};
    problems[to_string(c)][trial.sample].push_back({trial.batch, trial.position, bits_of(*r)});
  }
  return problems;
}

void put(BitMap& map, const BitMap::Place& at, int bits) {
  const auto rank = [](int b) { return b == BitMap::kNoOutput ? 1 << 30 : b; };
  BitMap::Cell& cell = map.cells[at];
  ++cell.cases;
  if (rank(bits) > rank(cell.bits)) cell.bits = bits;
  if (bits == BitMap::kNoOutput) map.without_output.insert(at);
  if (bits > 0) map.different.insert(at);
}

BitMap map_of(Problem problem) {
  BitMap map;
  for (auto& [sample, seen] : problem) {
    std::ranges::stable_sort(seen, {}, &Seen::batch);
    std::map<std::string, int> number{{"", 0}};
    put(map, {1, 0}, 0);
    for (const Seen& s : seen) {
      const int next = static_cast<int>(number.size());
      const int bits = s.bits ? number.try_emplace(*s.bits, next).first->second : BitMap::kNoOutput;
      put(map, {s.batch, s.position}, bits);
    }
  }
  return map;
}

/// By which the problem is chosen whose map is shown.
std::pair<std::size_t, std::size_t> rank(const BitMap& map) {
  return {map.different.size(), map.without_output.size()};
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
    if (!map.different.empty()) ++differing;
    if (rank(map) <= (most ? rank(*most) : rank({}))) continue;
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

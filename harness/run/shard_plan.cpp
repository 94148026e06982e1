#include "harness/run/shard_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/plan/shard_choice.h"
#include "harness/run/decoder_suite.h"
#include "harness/run/model_suite.h"
#include "harness/run/plan_digest.h"
#include "results_schema/error.h"

namespace bic {
namespace {

std::vector<Cell> part_of(const std::vector<Cell>& cells,
                          const report::Shard& shard,
                          const Selection& selection,
                          Seed seed) {
  if (shard.count > std::max<std::int64_t>(1, std::ssize(cells))) {  // one may have decoders only
    throw UsageError(
        fmt::format("shard {} by {}: {} shards are too many; what is selected has {} rows (an op "
                    "in a dtype each), so use at most that many, or --shard none",
                    text_of(shard),
                    shard.source,
                    shard.count,
                    cells.size()));
  }
  std::vector<std::int64_t> costs;
  for (const Cell& cell : cells) costs.push_back(cost_of(cell, selection, seed));
  const std::vector<std::int64_t> dealt = deal(costs, shard.count);
  std::vector<Cell> part;
  for (const Cell& cell : cells) {
    if (dealt[cell.place] == shard.index - 1) part.push_back(cell);
  }
  return part;
}

}  // namespace

std::size_t RunPlan::problems() const {
  std::size_t count = 0;
  for (const Cell& cell : cells) count += cell.problems.size();
  return count;
}

RunPlan plan_run(const Selection& selection,
                 Strength strength,
                 Seed seed,
                 const std::optional<report::Shard>& shard) {
  RunPlan plan{.digest = {}, .cells = make_plan(selection, strength), .decoders = {}, .models = {}};
  plan.digest = plan_digest(plan.cells, selection, strength, seed);
  if (shard) plan.cells = part_of(plan.cells, *shard, selection, seed);
  if (shard && shard->index != 1) return plan;
  plan.decoders = decoder_questions(selection, seed);
  plan.models = model_questions(selection);
  return plan;
}

std::int64_t cost_of(const Cell& cell, const Selection& selection, Seed seed) {
  // Fitted to the processor time of the quick plan's cells, whose problems are small: what they
  // cost whatever their size. A sweep names each of its samples in cases of their own.
  constexpr std::int64_t kProblem = 17'000'000, kSweep = 120'000'000, kFlopsInOne = 2;
  std::int64_t cost = 0;
  for (const ProblemPlan& plan : cell.problems) {
    const Problem problem = draw(plan, seed, selection.dims, 0);
    const std::vector<std::int64_t> batches = batches_of(plan, problem, selection);
    const auto samples = std::accumulate(batches.begin(), batches.end(), std::int64_t{0});
    cost += kProblem + samples * problem.flops() / kFlopsInOne;
    if (problem.sweeps()) cost += kSweep;
  }
  return cost;
}

std::vector<std::int64_t> deal(const std::vector<std::int64_t>& costs, std::int64_t count) {
  std::vector<std::size_t> dearest(costs.size());
  std::iota(dearest.begin(), dearest.end(), std::size_t{0});
  std::ranges::stable_sort(dearest, std::greater{}, [&](std::size_t i) { return costs[i]; });
  std::vector<std::int64_t> load(static_cast<std::size_t>(count)), dealt(costs.size());
  for (const std::size_t cell : dearest) {
    const auto least = std::ranges::min_element(load);
    dealt[cell] = least - load.begin();
    *least += costs[cell];
  }
  return dealt;
}

}  // namespace bic

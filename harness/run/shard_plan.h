#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/trace/traced_model.h"
#include "results_schema/report.h"

namespace bic {

/// What one run covers of a plan.
struct RunPlan {
  std::string digest;                             ///< of the whole plan, `plan_digest`
  std::vector<Cell> cells;                        ///< this run's part of it
  std::vector<report::DecoderQuestion> decoders;  ///< all of them, in the first shard
  std::vector<ModelChoice> models;                ///< so too

  std::size_t problems() const;  ///< number of them
};

/// The plan, and of it the shard's part: whole cells, dealt out by cost, the dearest first, each to
/// the shard that has the least. The same on every machine; `shard` may be empty.
/// Throws UsageError where there are more shards than cells.
RunPlan plan_run(const Selection& selection,
                 Strength strength,
                 Seed seed,
                 const std::optional<report::Shard>& shard);

/// About what preparing, running and judging a cell costs, in nanoseconds of a processor.
std::int64_t cost_of(const Cell& cell, const Selection& selection, Seed seed);

/// To which of `count` shards each cell goes, from 0, where the cells cost so much.
std::vector<std::int64_t> deal(const std::vector<std::int64_t>& costs, std::int64_t count);

}  // namespace bic

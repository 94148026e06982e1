#pragma once

#include <optional>

#include "harness/judge/stage.h"
#include "results_schema/journal.h"

namespace bic {

/// A judged trial worth timing, with everything needed to run it again.
struct TimedTrial {
  std::unique_ptr<Prepared> prepared;
  PlannedTrial trial;
  report::TimedOutput judged;  ///< its output when it was judged
};

/// The trial of a problem to time: the plain batch nearest to 33 samples; empty when the problem
/// has none.
std::optional<PlannedTrial> trial_to_time(const Prepared& prepared);

/// Times the trial on the backend and on stock in interleaved blocks of one run, the same inputs in
/// rotated buffers. Medians over the blocks. Empty when one of the two cannot run it.
std::optional<report::Throughput> time_against_stock(Stage& backend,
                                                     Stage& stock,
                                                     const TimedTrial& timed);

/// The middle one of the values, of which there is at least one; of an even number the larger.
std::int64_t median(std::vector<std::int64_t> values);

}  // namespace bic

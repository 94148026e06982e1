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
  bool cold = false;           ///< common inputs too are found in no cache
};

/// Bytes of all inputs and of the output: what a call must at least read and write.
std::int64_t bytes_moved(const TimedTrial& timed);

/// The trial of a problem to time: the plain batch nearest to 33 samples; empty when the problem
/// has none.
std::optional<PlannedTrial> trial_to_time(const Prepared& prepared);

/// Nanoseconds of one call, block by block, the two in turn.
struct Blocks {
  std::vector<std::int64_t> backend, stock;
  bool judged_output = true;  ///< the last outputs had the bytes of the judged one
};

/// Times further blocks of the trial on the backend and on stock, in turn, the same inputs in
/// rotated buffers. False when one of the two cannot run it.
bool add_blocks(Stage& backend, Stage& stock, const TimedTrial& timed, Blocks& blocks);

/// What the blocks, of which there is at least one of each, say: medians and spread.
report::Throughput throughput_of(const Blocks& blocks, const TimedTrial& timed);

/// The middle one of the values, of which there is at least one; of an even number the larger.
std::int64_t median(std::vector<std::int64_t> values);

}  // namespace bic

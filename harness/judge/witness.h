#pragma once

#include <optional>

#include "harness/judge/stage.h"

namespace bic {

/// Whether the worker's witness shows the extents, layout and form that the trial asked for.
bool shows_layout(const protocol::ProblemMessage& problem,
                  const protocol::TrialMessage& request,
                  const protocol::Witness& witness);

/// Whether the witnesses show what sets two trials apart beside that: other bytes in the batch
/// where it was permuted or got other neighbours, and two calls where one was run again.
bool shows_change(const Trial& a,
                  const protocol::Witness& of_a,
                  const Trial& b,
                  const protocol::Witness& of_b);

/// What the teams of a trial with its own thread count and of the one it is compared with show.
/// Empty when it was as planned; kNoParallelRegion when neither trial opened a region, so that
/// there is nothing to see; kWitness when another team ran than was asked for, or the worker cannot
/// see teams.
std::optional<Reason> thread_fault(int asked,
                                   const protocol::Witness& trial,
                                   const protocol::Witness& against);

}  // namespace bic

#pragma once

#include <optional>

#include "harness/stage.h"

namespace bic {

/// Whether the worker's witness shows the layout and the form that the trial asked for.
bool shows_layout(const protocol::ProblemMessage& problem,
                  const protocol::TrialMessage& request,
                  const protocol::Witness& witness);

/// What the teams of a trial with its own thread count and of the one it is compared with show.
/// Empty when it was as planned; kNoParallelRegion when neither trial opened a region, so that
/// there is nothing to see; kWitness when another team ran than was asked for.
std::optional<Reason> thread_fault(int asked,
                                   const protocol::Witness& trial,
                                   const protocol::Witness& against);

}  // namespace bic

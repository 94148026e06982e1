#pragma once

#include "harness/selftest/hunt.h"

namespace bic {

/// Name under which kills of the recipe are recorded, in the place of a relation's.
inline constexpr std::string_view kRecipe = "recipe";

/// The check that people write today, for comparison: standard normal inputs, the first row of a
/// batch of 2, 8, 32 and 128 against a batch of that row alone, equal within the default tolerances
/// of torch.testing.assert_close (1.3e-6 and 1e-5 in fp32, 1.6e-2 and 1e-5 in bf16, 1e-3 and 1e-5
/// in fp16, 1e-7 and 1e-7 in fp64, relative and absolute). A call that fails counts as seen, and so
/// does another dtype or rank. Sizes are those of the quick plan's problems, so that both look at
/// the same ones.
Hunt recipe_hunt(const faults::Fault& fault,
                 const WorkerLaunch& launch,
                 const HuntOptions& options);

}  // namespace bic

#pragma once

#include <string>

#include "harness/plan/plan.h"

namespace bic {

/// SHA-256 (64 hex digits) of what is planned: suite version, seed, strength, target level, and of
/// each problem its first draw, batch sizes and relations, and what decoders are asked. Equal plans
/// give equal text, on any machine and with any backend and number of jobs. `cells` is the whole
/// plan, never a shard's.
std::string plan_digest(const std::vector<Cell>& cells,
                        const Selection& selection,
                        Strength strength,
                        Seed seed);

}  // namespace bic

#pragma once

#include <string>
#include <vector>

#include "harness/run/merge.h"

namespace bic {

/// Throws UsageError, which names the two reports, the fact and both values, unless all are shards
/// of one plan, run on one subject by this version of the suite, each at most once. `shards` is
/// sorted by index and not empty. Machines may differ: a shard holds whole rows, so that no
/// comparison of bits is made across them.
void check_belong_together(const std::vector<ShardReport>& shards);

/// "shard 3/4 is missing; shard 4/4: interrupted after 3 of 9 problems"; empty for a whole plan.
std::string what_is_missing(const std::vector<ShardReport>& shards);

}  // namespace bic

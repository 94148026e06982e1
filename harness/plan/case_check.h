#pragma once

#include <cstdint>

#include "harness/plan/plan.h"
#include "results_schema/case_name.h"

namespace bic {

/// Largest extent of a dim and largest batch that a user may ask for.
inline constexpr std::int64_t kMostExtent = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostBatch = 65536;

/// Refuses a well-formed case that cannot be run as it says: an unknown op, dim, attribute or form,
/// trials that the relation has no use for, sizes beyond every machine.
/// Throws UsageError that names the field at fault.
void check_case(const CaseName&);

/// Refuses a plan whose own sizes (--dims, --shapes, --batch) are beyond every machine.
/// Throws UsageError that names the op, the tensor and the sizes.
void check_sizes(const std::vector<Cell>& plan, const Selection& selection, Seed seed);

}  // namespace bic

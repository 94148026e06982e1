#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/selftest/selftest.h"

namespace bic {

/// One line: what killed the fault, or where it survives.
std::string hunt_text(const Hunt& hunt);

/// First kills by class of faults and relation, with the faults killed of each class; only
/// relations that killed.
std::string kill_table(const std::vector<Hunt>& hunts);

/// Everything that was found, as canonical JSON without floating-point numbers; of a full hunt also
/// kill_matrix.csv.
void write_selftest(const SelftestOptions& options, const std::vector<Hunt>& hunts);

}  // namespace bic

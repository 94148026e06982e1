#pragma once

#include <string>
#include <vector>

#include "harness/plan/prepare.h"
#include "results_schema/report.h"

namespace bic {

/// Batch sizes in classes of equal bits of one sample: ascending in each, the classes by their
/// smallest size.
using BitClasses = std::vector<std::vector<std::int64_t>>;

/// The classes of `sample` among the sizes at which an `alone` case of it was judged, and 1. Where
/// a size has several, the first counts. Empty when there is none. `results` is in the order of
/// `prepared.cases`.
BitClasses bit_classes(const Prepared& prepared,
                       const std::vector<report::CaseResult>& results,
                       SampleId sample);

/// The smallest size whose bits are not those of the sample alone; empty when there is none.
std::optional<std::int64_t> first_to_differ(const BitClasses& classes);

/// Whether the bytes that a case compares differ.
bool differs_in_bits(const report::CaseResult& result);

/// What each relation showed of the judged cases of a problem. `accuracy` stands for the bound, all
/// others for bytes alone: a wrong value that is the same everywhere is no failure of theirs.
std::vector<report::RelationOutcome> outcomes(const Prepared& prepared,
                                              const std::vector<report::CaseResult>& results);

}  // namespace bic

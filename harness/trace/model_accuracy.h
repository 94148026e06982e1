#pragma once

#include <span>

#include "harness/trace/traced_model.h"
#include "results_schema/model_row.h"
#include "results_schema/vocabulary.h"

namespace bic {

/// A model as stock evaluates it, its hidden units in one order: in its own dtype, and in fp64 with
/// the same weights on the same requests.
struct StockRun {
  TracedRun rounded, exact;
};

/// How far the subject's tensors are from the model in fp64. Each may be off by twice the largest
/// error that stock's evaluations have in it, the first of which has the subject's order, and by
/// the rounding of its own dtype; a model in fp32 in its action before any clip by at most 1e-6 and
/// that rounding. What masks hide (beyond 2^100) must be hidden. All runs are of the same requests,
/// whole tensors; throws HarnessError where they have not the same tensors.
report::ModelAccuracy judge_tensors(DType model,
                                    const TracedRun& subject,
                                    std::span<const StockRun> stock);

/// "848 tensors, at most 41.2% of the bound: prefill: NAME", or what is beyond.
std::string text_of(const report::ModelAccuracy& accuracy);

}  // namespace bic

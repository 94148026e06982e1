#pragma once

#include <memory>

#include "harness/workers/worker.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// The reference of a whole model, whose variants call an operator that takes `weights=DTYPE` and
/// `order="…"` (adapters/libtorch/pi0_ops.h), by stock ATen on one sample. The oracle is the model
/// in fp64 with its weights rounded to the problem's dtype. A control is the model in that dtype
/// with its hidden units in another order. No analysis bounds so long a computation: the bound is
/// twice the largest error that stock's own evaluations, as it is and in the controls' orders, have
/// on the same inputs, and the rounding of the output; of the small presets in fp32 at most 1e-6
/// and that rounding.
///
/// The last outputs are kept. A preset that is there on request only is evaluated by one process on
/// all cores, which makes all outputs of a sample at once and then ends: it holds the weights.
std::shared_ptr<const Reference> model_reference(const OpSpec& op, const WorkerLaunch& stock);

}  // namespace bic

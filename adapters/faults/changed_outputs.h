#pragma once

#include <memory>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// What becomes of the honest output. It may be changed where it is.
using OutputChange = at::Tensor (*)(const libtorch::InterposedCall&, const at::Tensor& y);

/// A fault that changes what the honest backend computed, as the change's name says.
std::unique_ptr<libtorch::Interposer> changed_output(OutputChange change);

#define BIC_OUTPUT_CHANGE(name) \
  at::Tensor name(const libtorch::InterposedCall&, const at::Tensor& y)

// By other code for some elements, within the bound.
BIC_OUTPUT_CHANGE(scalar_tail);
BIC_OUTPUT_CHANGE(chunk_tails);
BIC_OUTPUT_CHANGE(scan_tail);
BIC_OUTPUT_CHANGE(halves_of_k);
BIC_OUTPUT_CHANGE(unsigned_zero_tail);
BIC_OUTPUT_CHANGE(signed_nan_tail);

// By arithmetic of another precision.
BIC_OUTPUT_CHANGE(sixteen_bit_partials);
BIC_OUTPUT_CHANGE(single_inside);
BIC_OUTPUT_CHANGE(rounded_before_bias);
BIC_OUTPUT_CHANGE(approximate_gelu);
BIC_OUTPUT_CHANGE(dithered);

// By another formula.
BIC_OUTPUT_CHANGE(correction_ignored);
BIC_OUTPUT_CHANGE(single_term);
BIC_OUTPUT_CHANGE(lost_last_row);
BIC_OUTPUT_CHANGE(carry_not_reset);
BIC_OUTPUT_CHANGE(heads_interleaved);

// At the ends of the range.
BIC_OUTPUT_CHANGE(flushed_outputs);
BIC_OUTPUT_CHANGE(saturating_cast);
BIC_OUTPUT_CHANGE(finite_math);

// By what does not belong to the sample.
BIC_OUTPUT_CHANGE(nan_leak);
BIC_OUTPUT_CHANGE(masked_nan);
BIC_OUTPUT_CHANGE(row_overread);
BIC_OUTPUT_CHANGE(dirty_workspace);
BIC_OUTPUT_CHANGE(beta_times_output);

#undef BIC_OUTPUT_CHANGE

}  // namespace bic::faults

#pragma once

#include <memory>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// What the honest backend gets instead of an input; mostly the input itself.
using InputChange = at::Tensor (*)(const libtorch::InterposedCall&,
                                   const protocol::TensorMessage&,
                                   const at::Tensor&);

/// A fault that computes honestly, on inputs that the change's name says are others.
std::unique_ptr<libtorch::Interposer> changed_inputs(InputChange change);

#define BIC_INPUT_CHANGE(name) \
  at::Tensor name(             \
      const libtorch::InterposedCall&, const protocol::TensorMessage&, const at::Tensor&)

// Rounded or flushed.
BIC_INPUT_CHANGE(tf32_inputs);
BIC_INPUT_CHANGE(bf16_inputs);
BIC_INPUT_CHANGE(bf16_integers);
BIC_INPUT_CHANGE(bf16_phases);
BIC_INPUT_CHANGE(half_exp);
BIC_INPUT_CHANGE(fp8_scale);
BIC_INPUT_CHANGE(flushed_inputs);

// Left out, scaled or moved.
BIC_INPUT_CHANGE(dropped_tail);
BIC_INPUT_CHANGE(zero_skip);
BIC_INPUT_CHANGE(constant_tile);
BIC_INPUT_CHANGE(alpha_ignored);
BIC_INPUT_CHANGE(beta_ignored);
BIC_INPUT_CHANGE(bias_ignored);
BIC_INPUT_CHANGE(scale_ignored);
BIC_INPUT_CHANGE(wrong_eps);
BIC_INPUT_CHANGE(mask_off_by_one);
BIC_INPUT_CHANGE(neighbours_index);
BIC_INPUT_CHANGE(batch_statistics);
BIC_INPUT_CHANGE(batch_maximum);

#undef BIC_INPUT_CHANGE

}  // namespace bic::faults

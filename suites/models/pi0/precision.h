#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "suites/models/pi0/config.h"
#include "suites/models/pi0/parameters.h"

namespace bic::pi0 {

/// The dtype of each part of a model. A weight is converted to the dtype of what it meets, which
/// costs nothing where it is stored in that one.
struct Precision {
  at::ScalarType model = at::kFloat;    ///< vision tower, projector, experts
  at::ScalarType patch = at::kFloat;    ///< patch embedding and position embedding
  at::ScalarType heads = at::kFloat;    ///< state, action and time projections
  at::ScalarType norm = at::kFloat;     ///< inside an RMSNorm
  at::ScalarType softmax = at::kFloat;  ///< inside a softmax
  at::ScalarType rope = at::kFloat;     ///< angles of the rotary embedding
  at::ScalarType time = at::kFloat;     ///< time embedding of open-pi-zero; openpi's is in fp64
  // What the model's constants are rounded to, also where it is evaluated in more precision:
  at::ScalarType buffers = at::kFloat;      ///< frequencies of the rotary embedding
  at::ScalarType scale = at::kFloat;        ///< the square root of the width that scales embeddings
  at::ScalarType time_values = at::kFloat;  ///< open-pi-zero's times and indices of frequencies
};

/// A model in `dtype`. Of open-pi-zero all is in that dtype; of openpi in bf16, patch embedding,
/// RMSNorm weights and heads stay in fp32. Throws UsageError unless it is fp32, bf16 or fp64.
Precision precision(const Config& config, at::ScalarType dtype);

/// The model of `p` evaluated in fp64: the same weights and constants, no other rounding.
Precision in_double(Precision p);

/// The dtype that a parameter of a model in `dtype` is stored in.
at::ScalarType stored_dtype(const Config& config, const Parameter& parameter, at::ScalarType dtype);

}  // namespace bic::pi0

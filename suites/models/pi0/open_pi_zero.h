#pragma once

#include "suites/models/pi0/model.h"

namespace bic::pi0 {

/// What a request holds, B requests in each tensor.
struct Inputs {
  at::Tensor pixel_values;    ///< [B, 3, image, image] in [-1, 1]
  at::Tensor input_ids;       ///< int64 [B, prefix]: image ids, text ids, pad ids
  at::Tensor attention_mask;  ///< int64 or bool [B, prefix]; only its sum is read
  at::Tensor proprios;        ///< [B, 1, state_dim]
  at::Tensor noise;           ///< [B, action_tokens, action_dim], the action at time 0
};

/// The action of open-pi-zero at time 1, [B, action_tokens, action_dim], before it is clipped to
/// [-1, 1]: the clip would hide differences. Inputs are converted to the model's dtype.
at::Tensor open_pi_zero(const Pass& pass, const Inputs& inputs, Prefix prefix = Prefix::kCached);

/// Sinusoids of t [B], [B, width]: sines first.
at::Tensor time_embedding(const Pass& pass, const at::Tensor& t);

}  // namespace bic::pi0

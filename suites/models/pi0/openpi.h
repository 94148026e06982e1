#pragma once

#include <vector>

#include "suites/models/pi0/model.h"

namespace bic::pi0 {

/// What a request to openpi holds, B requests in each tensor.
struct OpenPiInputs {
  std::vector<at::Tensor> images;  ///< each [B, 3, image, image] in [-1, 1]
  at::Tensor image_mask;           ///< bool [B, images]: false where a camera is missing
  at::Tensor input_ids;            ///< int64 [B, text_slots]
  at::Tensor text_mask;            ///< int64 or bool [B, text_slots]
  at::Tensor state;                ///< [B, state_dim]
  at::Tensor noise;                ///< [B, action_tokens, action_dim], the action at time 1
};

/// The action of openpi at time 0, [B, action_tokens, action_dim] in `Precision::heads` (fp32 in
/// mixed precision). Beside the sizes it differs from open-pi-zero in: the direction of time, its
/// embedding, action before time, the embeddings' scale, no soft cap, masks, positions, a state
/// token that belongs to the action expert, complete last layers, and where it rounds.
at::Tensor openpi(const Pass& pass, const OpenPiInputs& inputs, Prefix prefix = Prefix::kCached);

/// Sinusoids of fp32 times [B], [B, width of the action expert] in `Precision::heads`, made in
/// fp64.
at::Tensor period_embedding(const Pass& pass, const at::Tensor& time);

}  // namespace bic::pi0

#pragma once

#include <functional>

#include "suites/models/pi0/joint_model.h"

namespace bic::pi0 {

/// Keys (turned by the rotary embedding) and values of one layer, [B, 1, T, head_dim].
struct KeysValues {
  at::Tensor keys;
  at::Tensor values;
};

/// What the queries of a layer see, in the order of the mask, given what x's own tokens add.
using Context = std::function<KeysValues(std::size_t layer, const KeysValues& own)>;

/// The rows of the token embedding for `ids`, int64 [B, T], scaled by the root of the width as a
/// double, not as the rounded tensor of open-pi-zero: [B, T, width] in `Precision::model`.
at::Tensor text_embeddings(const Pass& pass, const at::Tensor& ids);

/// bool [B, queries, keys] to what is added to the logits: [B, 1, queries, keys], fp32 in every
/// precision.
at::Tensor additive_mask(const at::Tensor& allowed);

/// One expert of openpi on x [B, T, width], all layers and the last norm, in `Precision::model`.
/// `positions` is int64 [B, T]; `mask`, fp32, is added to the logits [B, 1, T, keys].
at::Tensor decoder_stack(const Pass& pass,
                         std::size_t expert,
                         const at::Tensor& x,
                         const at::Tensor& positions,
                         const at::Tensor& mask,
                         const Context& context);

/// The same, where the keys are those of `prefix`, where given, before x's own, which go to `fill`,
/// where given.
at::Tensor decoder_stack(const Pass& pass,
                         std::size_t expert,
                         const at::Tensor& x,
                         const at::Tensor& positions,
                         const at::Tensor& mask,
                         const Cache* prefix,
                         Cache* fill);

}  // namespace bic::pi0

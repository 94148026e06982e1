#pragma once

#include "suites/models/pi0/joint_model.h"

namespace bic::pi0 {

/// One expert of openpi on x [B, T, width], all layers and the last norm, in `Precision::model`.
/// `positions` is int64 [B, T]; `mask`, fp32, is added to the logits [B, 1, T, keys]. The keys
/// are those of `prefix`, where given, before x's own, which go to `fill`, where given.
at::Tensor decoder_stack(const Pass& pass,
                         std::size_t expert,
                         const at::Tensor& x,
                         const at::Tensor& positions,
                         const at::Tensor& mask,
                         const Cache* prefix,
                         Cache* fill);

}  // namespace bic::pi0

#pragma once

#include "suites/models/pi0/model.h"

namespace bic::pi0 {

/// SigLIP and the projector: pixels [B, 3, image, image], in [-1, 1], to image features
/// [B, tokens, width of the vlm expert] in `Precision::model`.
at::Tensor image_features(const Pass& pass, const at::Tensor& pixels);

}  // namespace bic::pi0

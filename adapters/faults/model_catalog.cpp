#include "adapters/faults/model_catalog.h"

#include <array>

namespace bic::faults {

std::span<const ModelFault> model_catalog() {
  static constexpr std::array kAll{
      ModelFault{"pi0-patch-embedding",
                 "in batches, a bit of each image's last patch: a convolution of another tile"},
      ModelFault{"pi0-attention",
                 "in batches, a bit of the scores in layer 1 of the prefill of the tiny presets"},
      ModelFault{"pi0-rms-norm",
                 "in batches, a bit of the mean square of the last token before layer 1's MLP in "
                 "the prefill of the tiny presets"}};
  return kAll;
}

}  // namespace bic::faults

#pragma once

#include <string>
#include <vector>

#include "suites/models/pi0/config.h"

namespace bic::pi0 {

/// How a parameter's synthetic values are spread.
enum class Law { kEmbedding, kBias, kRmsNorm, kLayerNorm, kMatrix, kActionOut };

/// Where a parameter works, which decides its dtype in mixed precision.
enum class Part { kModel, kPatch, kRmsNorm, kHead };

struct Parameter {
  std::string name;  ///< as in the public checkpoints
  std::vector<std::int64_t> shape;
  Law law = Law::kMatrix;
  Part part = Part::kModel;

  std::int64_t elements() const;
};

/// Every parameter of a model, in a fixed order: also those that no forward pass reads, such as the
/// last layer's MLP of an expert that only fills its cache.
std::vector<Parameter> parameters(const Config& config);

/// Those of the language tower alone: the token embedding and expert "vlm".
std::vector<Parameter> language_parameters(const Config& config);

}  // namespace bic::pi0

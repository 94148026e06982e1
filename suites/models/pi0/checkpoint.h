#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suites/models/pi0/checkpoint_contents.h"
#include "suites/models/pi0/model.h"

namespace bic::pi0 {

/// Weights out of files, on the CPU.
struct Loaded {
  Weights weights;
  /// One line for each kind of conversion, such as "938 tensors: F32 rounded to BFloat16", and for
  /// each tensor of the file that no model reads.
  std::vector<std::string> notes;
};

/// The weights of a model in `dtype`, as `checkpoint_contents` finds them. A tensor that has its
/// dtype already stays mapped; others are rounded to nearest. Throws UsageError.
Loaded load_weights(const Config& config, at::ScalarType dtype, const std::filesystem::path& path);

}  // namespace bic::pi0

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suites/models/pi0/model.h"

namespace bic::pi0 {

/// Weights out of files, on the CPU.
struct Loaded {
  Weights weights;
  /// One line for each kind of conversion, such as "938 tensors: F32 rounded to BFloat16", and for
  /// each tensor of the file that no model reads.
  std::vector<std::string> notes;
};

/// The weights of a model in `dtype` from a safetensors checkpoint (see `open_checkpoint`), by the
/// names of the public ones: "_orig_mod." anywhere, a leading "model." and the short names of
/// openpi's time MLP are understood, and a tied output head serves as the embedding. A tensor that
/// has its dtype already stays mapped; others are rounded to nearest. Throws UsageError when one is
/// missing, surplus, of another shape or of no floating-point dtype.
Loaded load_weights(const Config& config, at::ScalarType dtype, const std::filesystem::path& path);

/// The name under which `parameters` knows the tensor that a file calls `name`.
std::string parameter_name(const Config& config, std::string name);

}  // namespace bic::pi0

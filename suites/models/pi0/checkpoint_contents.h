#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "suites/models/pi0/config.h"
#include "suites/models/safetensors/checkpoint_files.h"

namespace bic::pi0 {

/// The tensors of a checkpoint that are a model's.
struct CheckpointContents {
  std::map<std::string, safetensors::Stored> tensors;  ///< by the names of `parameters`
  std::vector<std::string> unread;                     ///< those that no model reads, by the file's
};

/// What a safetensors checkpoint (see `open_checkpoint`) holds for a model, by the names of the
/// public ones: "_orig_mod." anywhere, a leading "model." and the short names of openpi's time MLP
/// are understood, and a tied output head serves as the embedding. Reads no tensor. Throws
/// UsageError when one is missing, surplus, of another shape or of no floating-point dtype.
CheckpointContents checkpoint_contents(const Config& config, const std::filesystem::path& path);

/// The name under which `parameters` knows the tensor that a file calls `name`.
std::string parameter_name(const Config& config, std::string name);

}  // namespace bic::pi0

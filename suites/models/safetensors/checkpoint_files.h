#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "suites/models/safetensors/layout.h"

namespace bic::safetensors {

/// A file mapped into memory, read only, for as long as the object lives.
class MappedFile {
 public:
  /// Throws UsageError when there is no such file or it cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A tensor and the file that holds it.
struct Stored {
  Entry entry;
  std::shared_ptr<const MappedFile> file;

  std::span<const std::byte> bytes() const {
    return file->bytes().subspan(entry.begin, entry.end - entry.begin);
  }
};

/// All tensors of a checkpoint by name. `path` is a .safetensors file, the .index.json of a sharded
/// one, or a folder that holds model.safetensors.index.json or model.safetensors. Throws UsageError
/// for whatever is wrong with the files, also when an index and its shards do not agree.
std::map<std::string, Stored> open_checkpoint(const std::filesystem::path& path);

/// SHA-256 of a checkpoint: of its file, or, of a sharded one, of what sha256sum prints of the
/// index and then of the shards, in the order of their names. Throws UsageError.
std::string checkpoint_sha256(const std::filesystem::path& path);

}  // namespace bic::safetensors

#include "suites/models/safetensors/checkpoint_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "results_schema/error.h"
#include "results_schema/sha256.h"

namespace bic::safetensors {
namespace {

namespace fs = std::filesystem;

/// Closes a descriptor that is needed for the mapping only.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

[[noreturn]] void refuse(const fs::path& path, const char* what) {
  throw UsageError(fmt::format("{}: cannot {}: {}", path.string(), what, std::strerror(errno)));
}

std::map<std::string, Stored> open_single(const fs::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  std::map<std::string, Stored> tensors;
  for (Entry& e : describe(file->bytes(), path.string())) {
    std::string name = e.name;
    tensors.emplace(std::move(name), Stored{std::move(e), file});
  }
  return tensors;
}

std::map<std::string, std::string> index_at(const fs::path& path) {
  const MappedFile index(path);
  const auto text = index.bytes();
  return read_index({reinterpret_cast<const char*>(text.data()), text.size()}, path.string());
}

/// Each shard holds exactly what the index says.
std::map<std::string, Stored> open_sharded(const fs::path& path) {
  const auto map = index_at(path);
  std::map<std::string, std::map<std::string, Stored>> shards;
  for (const auto& [name, shard] : map) {
    if (!shards.contains(shard)) shards[shard] = open_single(path.parent_path() / shard);
    if (!shards[shard].contains(name)) {
      throw UsageError(fmt::format("{}: tensor {} is not in {}, where the index puts it",
                                   path.string(),
                                   printable(name),
                                   printable(shard)));
    }
  }
  std::map<std::string, Stored> tensors;
  for (auto& [shard, held] : shards) {
    for (auto& [name, stored] : held) {
      const auto listed = map.find(name);
      if (listed == map.end() || listed->second != shard) {
        throw UsageError(fmt::format("{}: {} holds tensor {}, which the index does not put there",
                                     path.string(),
                                     printable(shard),
                                     printable(name)));
      }
      tensors.emplace(name, std::move(stored));
    }
  }
  return tensors;
}

/// The file that a path stands for: itself, or of a folder the index or the single file.
fs::path file_at(const fs::path& path) {
  std::error_code unreadable;  // who opens the file says so
  if (!fs::is_directory(path, unreadable)) return path;
  for (const char* name : {"model.safetensors.index.json", "model.safetensors"}) {
    if (fs::exists(path / name, unreadable)) return path / name;
  }
  throw UsageError(fmt::format(
      "{}: neither model.safetensors nor model.safetensors.index.json is in it", path.string()));
}

bool is_index(const fs::path& file) { return file.filename().string().ends_with(".index.json"); }

}  // namespace

MappedFile::MappedFile(const fs::path& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) refuse(path, "open it");
  struct stat status {};
  if (fstat(file.fd, &status) != 0) refuse(path, "read its size");
  if (!S_ISREG(status.st_mode)) {
    throw UsageError(fmt::format("{}: not a file", path.string()));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // what cannot be mapped
  void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (mapped == MAP_FAILED) refuse(path, "map it");
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

std::map<std::string, Stored> open_checkpoint(const fs::path& path) {
  const fs::path file = file_at(path);
  if (is_index(file)) return open_sharded(file);
  if (file.filename().string().ends_with(".safetensors")) return open_single(file);
  throw UsageError(fmt::format(
      "{}: not a .safetensors file, a .index.json or a folder of them; convert it first",
      path.string()));
}

std::string checkpoint_sha256(const fs::path& path) {
  const fs::path file = file_at(path);
  if (!is_index(file)) return sha256_file_hex(file);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : index_at(file)) shards.insert(shard);
  std::string printed = fmt::format("{}  {}\n", sha256_file_hex(file), file.filename().string());
  for (const std::string& shard : shards) {
    printed += fmt::format("{}  {}\n", sha256_file_hex(file.parent_path() / shard), shard);
  }
  return sha256_hex(printed);
}

}  // namespace bic::safetensors

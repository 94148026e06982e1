#include "adapters/protocol/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "results_schema/error.h"

namespace bic::protocol {

SharedMemory SharedMemory::create(std::size_t bytes) {
  Descriptor fd(memfd_create("bi-conform", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Sealed: were the other process to shrink it, reading it here would kill this one.
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw HarnessError("cannot make " + std::to_string(bytes) +
                       " bytes of shared memory: " + std::strerror(errno));
  }
  return map(std::move(fd), bytes);
}

SharedMemory SharedMemory::map(Descriptor descriptor, std::size_t bytes) {
  SharedMemory memory;
  struct stat about {};
  if (fstat(descriptor.get(), &about) != 0 || about.st_size < static_cast<off_t>(bytes)) {
    throw HarnessError("shared memory is smaller than the " + std::to_string(bytes) +
                       " bytes announced");
  }
  memory.descriptor_ = std::move(descriptor);
  if (bytes == 0) return memory;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.descriptor(), 0);
  if (at == MAP_FAILED) {
    throw HarnessError("cannot map " + std::to_string(bytes) +
                       " bytes of shared memory: " + std::strerror(errno));
  }
  memory.bytes_ = {static_cast<std::byte*>(at), bytes};
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace bic::protocol

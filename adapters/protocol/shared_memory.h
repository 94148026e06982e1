#pragma once

#include <cstddef>
#include <span>

#include "adapters/protocol/channel.h"

namespace bic::protocol {

/// Memory that two processes see: an anonymous file (memfd), passed by descriptor. Never /dev/shm,
/// which containers keep at 64 MB.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// New memory of `bytes` zeros. Throws HarnessError when the system refuses.
  static SharedMemory create(std::size_t bytes);
  /// Maps what another process made. Throws HarnessError when it is smaller than `bytes`.
  static SharedMemory map(Descriptor descriptor, std::size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::span<std::byte> bytes() const { return bytes_; }
  int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
  std::span<std::byte> bytes_;
};

}  // namespace bic::protocol

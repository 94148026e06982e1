#include "adapters/protocol/guarded.h"

#include <cstring>

namespace bic::protocol {
namespace {

bool all_equal(const std::byte* first, std::size_t bytes, std::byte value) {
  return bytes == 0 || (first[0] == value && std::memcmp(first, first + 1, bytes - 1) == 0);
}

}  // namespace

void poison_and_guard(std::byte* block, std::size_t bytes) {
  std::memset(block - kGuardBytes, static_cast<int>(kGuard), kGuardBytes);
  std::memset(block, static_cast<int>(kPoison), bytes);
  std::memset(block + bytes, static_cast<int>(kGuard), kGuardBytes);
}

bool guards_hold(const std::byte* block, std::size_t bytes) {
  return all_equal(block - kGuardBytes, kGuardBytes, kGuard) &&
         all_equal(block + bytes, kGuardBytes, kGuard);
}

bool all_poison(std::span<const std::byte> bytes) {
  return all_equal(bytes.data(), bytes.size(), kPoison);
}

std::int64_t count_poison(std::span<const std::byte> elements, std::int64_t size) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at + size <= elements.size(); at += size) {
    if (elements[at] == kPoison && all_poison(elements.subspan(at, size))) ++count;
  }
  return count;
}

}  // namespace bic::protocol

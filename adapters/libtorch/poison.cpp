#include "adapters/libtorch/poison.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_set>

#include "adapters/protocol/guarded.h"

namespace bic::libtorch {
namespace {

constexpr std::size_t kAlignment = 64;  // as c10's own allocator

/// First bytes of a block, before the front guard.
struct Header {
  std::size_t bytes;
  bool guarded;
};
static_assert(sizeof(Header) <= kAlignment);
constexpr std::size_t kFront = kAlignment + protocol::kGuardBytes;

std::atomic<bool> poison_on{true};
std::atomic<bool> damage_seen{false};

/// The guarded blocks that live. Leaked: tensors of the process may die after every static.
struct Living {
  std::mutex mutex;
  std::unordered_set<std::byte*> blocks;
};
Living& living() {
  static Living* const all = new Living;
  return *all;
}

Header& header_of(std::byte* data) { return *reinterpret_cast<Header*>(data - kFront); }

bool guards_hold(std::byte* data) { return protocol::guards_hold(data, header_of(data).bytes); }

// The context of a block equals its data pointer: oneDNN's wrappers in ATen count on it.
void free_block(void* context) {
  if (context == nullptr) return;
  auto* const data = static_cast<std::byte*>(context);
  if (header_of(data).guarded) {
    if (!guards_hold(data)) damage_seen = true;
    const std::lock_guard lock(living().mutex);
    living().blocks.erase(data);
  }
  std::free(data - kFront);
}

std::byte* make_block(std::size_t bytes) {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const base = std::aligned_alloc(kAlignment, kFront + rounded + protocol::kGuardBytes);
  if (base == nullptr) throw std::bad_alloc();
  std::byte* const data = static_cast<std::byte*>(base) + kFront;
  header_of(data) = {bytes, poison_on};
  if (!header_of(data).guarded) return data;
  protocol::poison_and_guard(data, bytes);
  const std::lock_guard lock(living().mutex);
  living().blocks.insert(data);
  return data;
}

class PoisonAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    std::byte* const data = bytes == 0 ? nullptr : make_block(bytes);
    return {data, data, &free_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace

void install_poison() {
  static PoisonAllocator* const allocator = new PoisonAllocator;
  c10::SetCPUAllocator(allocator, 255);
}

void set_poison(bool on) { poison_on = on; }

void forget_damage() { damage_seen = false; }

bool guards_damaged() {
  if (damage_seen) return true;
  const std::lock_guard lock(living().mutex);
  const auto& blocks = living().blocks;
  return !std::all_of(blocks.begin(), blocks.end(), guards_hold);
}

}  // namespace bic::libtorch

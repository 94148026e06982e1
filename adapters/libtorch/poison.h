#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bic::libtorch {

/// Every byte of a fresh block: NaN in all float types, and no NaN that an operation makes.
inline constexpr std::byte kPoison{0xFF};
/// Every byte of the guards before and behind a block.
inline constexpr std::byte kGuard{0xA5};
/// Bytes of each guard: an overrun by one vector, one tile edge or one row of 256 floats hits it.
inline constexpr std::size_t kGuardBytes = 1024;

/// Makes the poisoning allocator ATen's CPU allocator, once for the process. Blocks are 64-byte
/// aligned, filled with kPoison and stand between guards; those made while poison is off are
/// neither filled nor guarded, but are freed alike. Safe from any thread.
void install_poison();

/// True while fresh blocks are filled and guarded; the default.
void set_poison(bool on);

/// Forgets the damage seen so far.
void forget_damage();

/// True when a guard of a living block is damaged, or one was when its block was freed since
/// `forget_damage`.
bool guards_damaged();

/// Poison is off for the life of it.
class PoisonOff {
 public:
  PoisonOff() { set_poison(false); }
  ~PoisonOff() { set_poison(true); }
  PoisonOff(const PoisonOff&) = delete;
  PoisonOff& operator=(const PoisonOff&) = delete;
};

/// True when every byte is poison.
bool all_poison(std::span<const std::byte> bytes);

/// Elements of `size` bytes of which every byte is poison.
std::int64_t count_poison(std::span<const std::byte> elements, std::int64_t size);

}  // namespace bic::libtorch

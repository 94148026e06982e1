#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bic::protocol {

/// Every byte of a fresh block: NaN in all float types, and no NaN that an operation makes.
inline constexpr std::byte kPoison{0xFF};
/// Every byte of the guards before and behind a block.
inline constexpr std::byte kGuard{0xA5};
/// Bytes of each guard: an overrun by one vector, one tile edge or one row of 256 floats hits it.
inline constexpr std::size_t kGuardBytes = 1024;

/// Fills the block with kPoison and kGuardBytes on each side of it with kGuard.
void poison_and_guard(std::byte* block, std::size_t bytes);

/// True when both guards of the block are whole.
bool guards_hold(const std::byte* block, std::size_t bytes);

/// True when every byte is poison.
bool all_poison(std::span<const std::byte> bytes);

/// Elements of `size` bytes of which every byte is poison.
std::int64_t count_poison(std::span<const std::byte> elements, std::int64_t size);

}  // namespace bic::protocol

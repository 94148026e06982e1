#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bic::protocol {

/// A number that other bytes, or the same in another order, change with all but a chance of 2^-64:
/// for witnesses, which compare it with that of another trial. No protection against intent.
inline std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t seed) {
  constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  constexpr std::size_t kWord = 8, kLanes = 4;
  // Four chains, so that multiplications overlap: one alone would cost more than reading memory.
  std::array<std::uint64_t, kLanes> lanes{seed, ~seed, seed + kMultiplier, seed ^ kMultiplier};
  const auto mix = [](std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * kMultiplier;
    return state ^ (state >> 29);
  };
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + kLanes * kWord <= bytes.size();) {
    for (std::uint64_t& lane : lanes) {
      std::memcpy(&word, bytes.data() + at, kWord);
      lane = mix(lane, word);
      at += kWord;
    }
  }
  for (; at < bytes.size(); ++at) lanes[0] = mix(lanes[0], static_cast<std::uint64_t>(bytes[at]));
  std::uint64_t all = mix(seed, bytes.size());
  for (const std::uint64_t lane : lanes) all = mix(all, lane);
  return all;
}

}  // namespace bic::protocol

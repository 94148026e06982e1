#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace bic {

/// 64 random bits as a function of (key, counter), in integer arithmetic only: five rounds of
/// B. Widynski, "Squares: A Fast Counter-Based RNG", arXiv:2004.06278v7, `squares64`.
/// The key is made odd, as the paper demands; its bits should come from a mix such as `derive`.
constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
  key |= 1;
  const std::uint64_t y = counter * key;
  const std::uint64_t z = y + key;
  std::uint64_t x = std::rotl(y * y + y, 32);
  x = std::rotl(x * x + z, 32);
  x = std::rotl(x * x + y, 32);
  const std::uint64_t t = x * x + z;
  x = std::rotl(t, 32);
  return t ^ ((x * x + y) >> 32);
}

/// `bits[i] = random_bits(key, first + i)`, several at a time where the machine can.
void random_bits(std::uint64_t key, std::uint64_t first, std::span<std::uint64_t> bits);

/// `bits[i] = random_bits(key, counters[i])`; both spans are of one length.
void random_bits(std::uint64_t key,
                 std::span<const std::uint64_t> counters,
                 std::span<std::uint64_t> bits);

}  // namespace bic

#pragma once

#include <bit>
#include <cstdint>

#include "generators/isa.h"

namespace bic::draws {

/// `yes` where `mask` is all ones, `no` where it is 0. By bits, because compilers do not make a
/// selection of a branch around arithmetic that could set a floating-point flag.
BIC_LOOP inline double select(std::uint64_t mask, double yes, double no) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & mask) |
                               (std::bit_cast<std::uint64_t>(no) & ~mask));
}

/// The integer v in [0, 2^52), exactly, less `centre` (exact too where both are below 2^52).
BIC_LOOP inline double integer_less(std::uint64_t v, double centre) {
  return std::bit_cast<double>(0x4330000000000000 | v) - (0x1p52 + centre);
}

/// 52 of the bits as a number in [0, 1).
BIC_LOOP inline double unit(std::uint64_t bits) { return integer_less(bits >> 12, 0) * 0x1p-52; }

/// Places below the grid of the draws further down, for fp64: a bijection of the same bits, in [0,
/// 1).
BIC_LOOP inline double fine(std::uint64_t bits) { return unit(bits * 0xd1342543de82ef95); }

/// Other bits for each of two `which` (0 or 1), as a bijection of the same: a multiplication
/// between shifts, far cheaper than a word of their own.
BIC_LOOP inline std::uint64_t remixed(std::uint64_t bits, std::uint64_t which) {
  std::uint64_t x = bits + ((0 - which) & 0x9e3779b97f4a7c15);
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return x ^ (x >> 29);
}

/// Irwin-Hall: the sum of four 16-bit fields, centred, of variance 1 (to 2^-32), inside +-2
/// sqrt(3). Below that grid stand 32 bits of the two halves' difference and then `below`, in [0,
/// 1): values have 48 significant bits without it and all 53 with it, so that no sum of them is
/// exact.
BIC_LOOP inline double normal(std::uint64_t bits, double below = 0) {
  constexpr std::uint64_t kField = 0xffff;
  const std::uint64_t sum =
      (bits & kField) + ((bits >> 16) & kField) + ((bits >> 32) & kField) + (bits >> 48);
  const std::uint64_t fraction = (bits ^ (bits >> 32)) & 0xffffffff;
  constexpr double kCentre = 0x1p49 - 3 * 0x1p31;          // the mean of sum * 2^32 + fraction
  constexpr double kScale = 1.7320508075688772 * 0x1p-48;  // sqrt(3): four variances of 1/12
  return (integer_less(sum << 32 | fraction, kCentre) + below) * kScale;
}

/// Uniform on [-1, 1): 51 bits after the point, all 53 significant ones with `below`, in [0, 1).
BIC_LOOP inline double uniform(std::uint64_t bits, double below = 0) {
  return (integer_less(bits >> 12, 0x1p51) + below) * 0x1p-51;
}

/// An integer in [0, n), from the upper 32 bits; n is below 2^20, so that the bias is below 2^-12.
BIC_LOOP inline std::uint64_t below(std::uint64_t bits, std::uint64_t n) {
  return ((bits >> 32) * n) >> 32;
}

/// sign * 1.f * 2^exponent with f the lower 52 bits; -1022 <= exponent <= 1023.
BIC_LOOP inline double scaled(std::uint64_t sign, std::int64_t exponent, std::uint64_t bits) {
  return std::bit_cast<double>(sign << 63 | static_cast<std::uint64_t>(1023 + exponent) << 52 |
                               (bits & 0xfffffffffffff));
}

}  // namespace bic::draws

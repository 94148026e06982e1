#include "reference_kernels/cpu/turns.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "reference_kernels/two_by_pi.h"

namespace bic::cpu {
namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
constexpr std::uint64_t kHiddenBit = std::uint64_t{1} << 52;
constexpr int kWords = 3;
__extension__ using Product = unsigned __int128;

/// 2^(32 i - 190).
constexpr double kUnits[2 * kWords] = {0x1p-190, 0x1p-158, 0x1p-126, 0x1p-94, 0x1p-62, 0x1p-30};

}  // namespace

// M. Payne, R. Hanek, "Radian reduction for trigonometric functions" (1983): only 192 bits of 2 /
// pi matter, those before them times x being whole turns. No double is nearer than 2^-62 to a
// multiple of pi / 2, and what is left out is below 2^-135.
Turn reduce_turns(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t factor = (bits & (kHiddenBit - 1)) | kHiddenBit;
  const int begin = static_cast<int>(bits >> 52 & 0x7FF) - 1022 + 9;
  const std::size_t first = static_cast<std::size_t>(begin) / 64;
  const int shift = begin % 64;
  std::array<std::uint64_t, kWords> words;  // the product, lowest first, in units of 2^-190
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::size_t at = first + kWords - 1 - i;
    const std::uint64_t part =
        shift == 0 ? kTwoByPi[at] : kTwoByPi[at] << shift | kTwoByPi[at + 1] >> (64 - shift);
    const Product product = static_cast<Product>(part) * factor + carry;
    words[i] = static_cast<std::uint64_t>(product);
    carry = static_cast<std::uint64_t>(product >> 64);
  }
  int quadrant = static_cast<int>(words.back() >> 62);
  const bool above_half = (words.back() >> 61 & 1) != 0;
  if (above_half) {
    for (std::uint64_t& word : words) word = ~word;
    ++quadrant;
  }
  words.back() &= ~std::uint64_t{0} >> 2;
  double hi = 0, lo = 0;
  for (int i = 2 * kWords - 1; i >= 0; --i) {  // halves of words, the largest first
    const double part = kUnits[i] * static_cast<double>(words[i / 2] >> (i % 2 * 32) & 0xFFFFFFFF);
    const double sum = hi + part;
    lo += part - (sum - hi);
    hi = sum;
  }
  const double high = hi * kHalfPi;
  const double low = std::fma(hi, kHalfPi, -high) + (hi * kHalfPiLow + lo * kHalfPi);
  const double sign = above_half != (x < 0) ? -1 : 1;
  return {sign * high, sign * low, (x < 0 ? -quadrant : quadrant) & 3};
}

}  // namespace bic::cpu

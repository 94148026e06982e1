// Sine and cosine of any argument.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "reference_kernels/oracle/wide_math.h"
#include "reference_kernels/two_by_pi.h"

namespace bic {
namespace {

constexpr DoubleDouble kHalfPi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

/// A number below 2^320, its lowest word first.
constexpr int kWords = 5;
using Words = std::array<std::uint64_t, kWords>;
__extension__ using Product = unsigned __int128;

/// `factor` times the 320 bits of kTwoByPi from bit `begin` on, without what overflows.
Words times_two_by_pi(std::uint64_t factor, int begin) {
  Words words{};
  std::uint64_t carry = 0;
  for (int i = 0; i < kWords; ++i) {
    const std::size_t at = static_cast<std::size_t>(begin / 64 + kWords - 1 - i);
    const int shift = begin % 64;
    const std::uint64_t part =
        shift == 0 ? kTwoByPi[at] : kTwoByPi[at] << shift | kTwoByPi[at + 1] >> (64 - shift);
    const Product product = static_cast<Product>(part) * factor + carry;
    words[i] = static_cast<std::uint64_t>(product);
    carry = static_cast<std::uint64_t>(product >> 64);
  }
  return words;
}

/// words * 2^-318, the two highest bits left out; relative error 2^-103.
DoubleDouble fraction_of(const Words& words) {
  DoubleDouble sum = 0.0;
  for (int i = 0; i < kWords; ++i) {
    const std::uint64_t word = i + 1 == kWords ? words[i] & (~std::uint64_t{0} >> 2) : words[i];
    const int exponent = 64 * i - 318;
    sum += scale(static_cast<double>(word & 0xFFFFFFFF), exponent);
    sum += scale(static_cast<double>(word >> 32), exponent + 32);
  }
  return sum;
}

/// x = quadrant * pi / 2 + rest, but for whole turns; |rest| <= pi / 4.
struct Reduced {
  int quadrant;
  DoubleDouble rest;
};

/// For finite x >= 1/2 (M. Payne, R. Hanek, "Radian reduction for trigonometric functions", 1983):
/// the bits of 2 / pi that times x are whole turns are left out; so are those whose share is below
/// 2^-264, no double being nearer than 2^-62 to a multiple of pi / 2.
Reduced reduce(double x) {
  int exponent = 0;
  const auto significand = static_cast<std::uint64_t>(scale(std::frexp(x, &exponent), 53));
  Words words = times_two_by_pi(significand, exponent - 53 + 62);
  int quadrant = static_cast<int>(words.back() >> 62);
  const bool above_half = (words.back() >> 61 & 1) != 0;
  if (above_half) {
    for (std::uint64_t& word : words) word = ~word;  // 1 - fraction, but for 2^-318
    ++quadrant;
  }
  const DoubleDouble rest = fraction_of(words) * kHalfPi;
  return {quadrant & 3, above_half ? -rest : rest};
}

/// 1 / n!.
const std::array<DoubleDouble, 29>& inverse_factorials() {
  static const auto table = [] {
    std::array<DoubleDouble, 29> all;
    all[0] = 1.0;
    for (std::size_t n = 1; n < all.size(); ++n) all[n] = all[n - 1] / static_cast<double>(n);
    return all;
  }();
  return table;
}

/// The sum of (-1)^n r^(2n) / (2n + odd)! for |r| <= pi / 4, where r^28 / 29! is below 2^-107.
DoubleDouble alternating(DoubleDouble r, int odd) {
  const DoubleDouble square = -(r * r);
  DoubleDouble sum = inverse_factorials()[26 + odd];
  for (int n = 24 + odd; n >= 0; n -= 2) sum = sum * square + inverse_factorials()[n];
  return sum;
}

/// sin(x + quadrants * pi / 2).
DoubleDouble sine(DoubleDouble x, int quadrants) {
  if (!std::isfinite(x.hi)) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = x.hi < 0;
  Reduced r{0, x};
  if (std::fabs(x.hi) >= 0.5) {
    r = reduce(std::fabs(x.hi));
    if (negative) r = {-r.quadrant & 3, -r.rest};
    r.rest += x.lo;
  }
  const int quadrant = (r.quadrant + quadrants) & 3;
  const bool cosine = (quadrant & 1) != 0;
  const DoubleDouble y = cosine ? alternating(r.rest, 0) : r.rest * alternating(r.rest, 1);
  return quadrant >= 2 ? -y : y;
}

}  // namespace

DoubleDouble wide_sin(DoubleDouble x) { return x.hi == 0 ? x : sine(x, 0); }
DoubleDouble wide_cos(DoubleDouble x) { return sine(x, 1); }

double wide_sin(double x) { return wide_sin(DoubleDouble(x)).hi; }
double wide_cos(double x) { return wide_cos(DoubleDouble(x)).hi; }
float wide_sin(float x) { return static_cast<float>(wide_sin(static_cast<double>(x))); }
float wide_cos(float x) { return static_cast<float>(wide_cos(static_cast<double>(x))); }

}  // namespace bic

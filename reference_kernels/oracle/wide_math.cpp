#include "reference_kernels/oracle/wide_math.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace bic {
namespace {

constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kLn2High = 0x1.62e42feep-1;  // 32 bits: k * kLn2High is exact for |k| < 2^21
constexpr DoubleDouble kLn2Low{0x1.a39ef35793c76p-33, 0x1.cc01f97b57a08p-87};
constexpr DoubleDouble kTwoBySqrtPi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};
constexpr DoubleDouble kOneBySqrtPi{0x1.20dd750429b6dp-1, 0x1.1ae3a914fed80p-57};

/// 1 / n! for n = 2, 3, …
constexpr std::array<DoubleDouble, 13> kInverseFactorials{{
    {0x1p-1, 0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
    {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
}};

/// (1 + 2z) exp(z^2) erfc(z) for 0 <= z <= 28 as a polynomial in t = (z - 4) / (z + 4), lowest
/// power first; the form is Shepherd and Laframboise's (Math. Comp. 36, 1981), the coefficients
/// were interpolated at Chebyshev nodes in 250 bits. Relative error 2^-61.
constexpr std::array kScaledErfc{
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd7e6p-7,   0x1.16ecefcfa5400p-4,
    -0x1.9ddb23c3e924bp-4,  0x1.7fee004e113a0p-4,   -0x1.0fb06dfe46db3p-4,  0x1.3079edf6ae2ebp-5,
    -0x1.09623885955c8p-6,  0x1.49c6727714f22p-8,   -0x1.8d4a996717f16p-11, -0x1.a1df1879570cbp-13,
    0x1.3be033841dfc4p-13,  -0x1.995b13f6b0a3fp-16, -0x1.7882d18e29e35p-17, 0x1.7f3e45c1e5061p-18,
    0x1.3926a52c331a6p-22,  -0x1.bc665b6377870p-21, 0x1.4adcd53cbbc96p-24,  0x1.e689355383b88p-24,
    -0x1.483e5f2f13f5cp-26, -0x1.1d56405fb00c0p-26, 0x1.cfaa94405e761p-30,  0x1.210c970eb46d4p-29,
    0x1.401609bf915e2p-32,
};

/// How many of the lowest powers are added in double-double: with fewer the error exceeds 2 ulp.
constexpr std::size_t kWideSteps = 5;

// Beyond these exp overflows or is 0 in double.
constexpr double kLargest = 709.79;
constexpr double kSmallest = -745.14;

double power_of_two(int exponent) {  // normal numbers only
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

DoubleDouble scale(DoubleDouble x, int exponent) {
  return {bic::scale(x.hi, exponent), bic::scale(x.lo, exponent)};
}

/// The integer nearest to x / ln 2.
int octaves(double x) {
  const double t = x * kInverseLn2;
  return static_cast<int>(t < 0 ? t - 0.5 : t + 0.5);
}

/// exp(x) - 1 for x = k ln 2 + 512 r: Taylor for r, then nine times e <- 2e + e^2, which keeps the
/// relative error of small results (after Hida, Li, Bailey).
DoubleDouble expm1_reduced(DoubleDouble x, int k) {
  constexpr int kDoublings = 9;
  const DoubleDouble rest = (x - kLn2High * k) - kLn2Low * static_cast<double>(k);
  const DoubleDouble r = scale(rest, -kDoublings);
  // |r| < 2^-10.5: r^10 / 11! is below 2^-130 of r.
  DoubleDouble sum = kInverseFactorials[8];
  for (int i = 7; i >= 0; --i) sum = sum * r + kInverseFactorials[i];
  DoubleDouble e = r + r * r * sum;
  for (int i = 0; i < kDoublings; ++i) e = scale(e, 1) + e * e;
  return e;
}

/// 1 / (2n + 1): a product takes a quarter of a quotient's time.
const std::array<DoubleDouble, 54>& odd_reciprocals() {
  static const auto table = [] {
    std::array<DoubleDouble, 54> all;
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = DoubleDouble(1.0) / (2.0 * n + 1);
    return all;
  }();
  return table;
}

/// erf(x) = 2 x exp(-x^2) / sqrt(pi) * sum of (2 x^2)^n / (2n+1)!!, all of one sign (Abramowitz and
/// Stegun 7.1.6). For |x| < 2.
DoubleDouble erf_series(DoubleDouble x) {
  const DoubleDouble square = x * x;
  const DoubleDouble step = scale(square, 1);
  const int terms = 16 + static_cast<int>(18 * std::fabs(x.hi));
  DoubleDouble sum = 1.0;
  for (int n = terms; n > 0; --n) sum = 1.0 + sum * step * odd_reciprocals()[n];
  return kTwoBySqrtPi * x * wide_exp(-square) * sum;
}

/// erfc by the even part of its continued fraction, evaluated backwards (Abramowitz and Stegun
/// 7.1.14; Press et al., Numerical Recipes, 6.2). For x >= 2.
DoubleDouble erfc_fraction(DoubleDouble x) {
  const DoubleDouble square = x * x;
  const int depth = 8 + static_cast<int>(400 / square.hi);
  DoubleDouble fraction = square + (2.0 * depth + 0.5);
  for (int n = depth; n > 0; --n) {
    fraction = square + (2.0 * n - 1.5) - (n * (n - 0.5)) / fraction;
  }
  return kOneBySqrtPi * x * wide_exp(-square) / fraction;
}

}  // namespace

double scale(double x, int exponent) {
  for (; exponent > 1000; exponent -= 1000) x *= power_of_two(1000);
  for (; exponent < -1000; exponent += 1000) x *= power_of_two(-1000);
  return x * power_of_two(exponent);
}

double wide_exp(double x) {
  if (x != x || x > kLargest) return x * 0x1p1023;
  if (x < kSmallest) return 0;
  const int k = octaves(x);
  const double high = x - k * kLn2High;  // exact: both are multiples of ulp(x) or of 2^-32
  const double low = k * kLn2Low.hi;
  const double r = high - low;
  const double lost = (high - r) - low;
  double sum = kInverseFactorials[11].hi;
  for (int i = 10; i >= 0; --i) sum = sum * r + kInverseFactorials[i].hi;
  return scale(1 + (r + (r * r * sum + lost)), k);
}

DoubleDouble wide_exp(DoubleDouble x) {
  if (!(x.hi <= kLargest) || x.hi < kSmallest) return wide_exp(x.hi);
  const int k = octaves(x.hi);
  return scale(expm1_reduced(x, k) + 1.0, k);
}

DoubleDouble wide_expm1(DoubleDouble x) {
  if (!(x.hi <= kLargest)) return wide_exp(x.hi);
  if (x.hi < -80) return -1.0;  // exp(-80) < 2^-115
  const int k = octaves(x.hi);
  return scale(expm1_reduced(x, k), k) + (DoubleDouble(bic::scale(1, k)) - 1.0);
}

DoubleDouble wide_log(DoubleDouble x) {
  if (x.hi == 0) return -std::numeric_limits<double>::infinity();
  if (!(x.hi > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(x.hi)) return x.hi;
  int k = 0;
  if (std::frexp(x.hi, &k) < kSqrtHalf) --k;
  const DoubleDouble m = scale(x, -k);
  // 2 artanh(s), s = (m - 1) / (m + 1): |s| < 0.172, whose 44th power is below 2^-110.
  const DoubleDouble s = (m - 1.0) / (m + 1.0);
  const DoubleDouble square = s * s;
  DoubleDouble sum = odd_reciprocals()[21];
  for (int n = 20; n >= 0; --n) sum = sum * square + odd_reciprocals()[n];
  return kLn2High * k + (kLn2Low * static_cast<double>(k) + scale(s * sum, 1));
}

DoubleDouble wide_pow(double x, double y) {
  if (y == 0 || x == 1) return 1.0;
  if (x != x || y != y) return x + y;
  const bool integer = std::floor(y) == y, odd = integer && std::floor(y / 2) * 2 != y;
  if (x < 0 && std::isfinite(x) && !integer) return std::numeric_limits<double>::quiet_NaN();
  const DoubleDouble size = x == -1 ? 1.0 : wide_exp(wide_log(DoubleDouble(std::fabs(x))) * y);
  return std::signbit(x) && odd ? -size : size;
}

DoubleDouble wide_erfc(DoubleDouble x) {
  if (x.hi != x.hi) return x.hi;
  if (x.hi > 28) return 0.0;  // erfc(27.3) < 2^-1074
  if (x.hi < -28) return 2.0;
  if (x.hi >= 2) return erfc_fraction(x);
  if (x.hi <= -2) return 2.0 - erfc_fraction(-x);
  return 1.0 - erf_series(x);
}

double wide_erfc(double x) {
  if (x != x) return x;
  const double z = std::fabs(x);
  if (z > 28) return x < 0 ? 2 : 0;
  const DoubleDouble t = two_sum(z, -4) / two_sum(z, 4);
  double high_powers = kScaledErfc.back();
  for (std::size_t i = kScaledErfc.size() - 1; i-- > kWideSteps;) {
    high_powers = high_powers * t.hi + kScaledErfc[i];
  }
  DoubleDouble sum = high_powers;
  for (std::size_t i = kWideSteps; i-- > 0;) sum = sum * t + kScaledErfc[i];
  const DoubleDouble factor = sum / two_sum(1, 2 * z);
  const DoubleDouble square = two_prod(z, z);
  const double e = wide_exp(-square.hi);
  const double tail = std::fma(e, factor.hi, e * (factor.lo - square.lo * factor.hi));
  return x < 0 ? 2 - tail : tail;
}

double wide_expm1(double x) { return wide_expm1(DoubleDouble(x)).hi; }
double wide_log(double x) { return wide_log(DoubleDouble(x)).hi; }

float wide_exp(float x) { return static_cast<float>(wide_exp(static_cast<double>(x))); }
float wide_erfc(float x) { return static_cast<float>(wide_erfc(static_cast<double>(x))); }
float wide_expm1(float x) { return static_cast<float>(wide_expm1(static_cast<double>(x))); }
float wide_log(float x) { return static_cast<float>(wide_log(static_cast<double>(x))); }

}  // namespace bic

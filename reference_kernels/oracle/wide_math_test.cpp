#include "reference_kernels/oracle/wide_math.h"

#include <gtest/gtest.h>
#include <quadmath.h>

#include <limits>
#include <random>

namespace bic {
namespace {

using Quad = __float128;  // 113 bits: enough to judge 106

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Quad quad(DoubleDouble x) { return static_cast<Quad>(x.hi) + static_cast<Quad>(x.lo); }

double relative_error(DoubleDouble got, Quad expected) {
  if (expected == 0) return got.hi == 0 ? 0 : kInfinity;
  return static_cast<double>(fabsq((quad(got) - expected) / expected));
}

/// Distance in units in the last place of `expected` rounded to double.
double ulps(double got, Quad expected) {
  const double size = std::fabs(static_cast<double>(expected));
  const double ulp = std::nextafter(size, kInfinity) - size;
  return static_cast<double>(fabsq(static_cast<Quad>(got) - expected) / static_cast<Quad>(ulp));
}

class Drawn {
 public:
  double uniform(double lo, double hi) {
    return std::uniform_real_distribution<double>(lo, hi)(rng_);
  }
  /// Sizes from 2^-40 up to `largest`, both parts used.
  DoubleDouble wide(double largest) {
    const double hi = uniform(-largest, largest) * std::exp2(-static_cast<int>(rng_() % 40));
    return quick_two_sum(hi, hi * uniform(-0x1p-54, 0x1p-54));
  }

 private:
  std::mt19937_64 rng_{20250711};
};

TEST(DoubleDouble, SumAndProductOfDoublesAreExact) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const double a = drawn.wide(1e6).hi, b = drawn.wide(1e6).hi;
    EXPECT_EQ(quad(two_prod(a, b)), static_cast<Quad>(a) * static_cast<Quad>(b));
    // The quad sum is itself exact only where the exponents are near.
    const DoubleDouble s = two_sum(a, b);
    EXPECT_EQ((static_cast<Quad>(s.hi) - a) - b + s.lo, static_cast<Quad>(0)) << a << " " << b;
  }
}

TEST(DoubleDouble, ArithmeticHasAHundredBits) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const DoubleDouble a = drawn.wide(1e3), b = drawn.wide(1e3);
    EXPECT_LT(relative_error(a * b, quad(a) * quad(b)), 0x1p-102);
    EXPECT_LT(relative_error(a / b, quad(a) / quad(b)), 0x1p-102);
    const double size = std::fabs(a.hi) + std::fabs(b.hi);
    EXPECT_LT(std::fabs(static_cast<double>(quad(a + b) - (quad(a) + quad(b)))), size * 0x1p-104);
    const DoubleDouble positive = a.hi < 0 ? -a : a;
    EXPECT_LT(relative_error(sqrt(positive), sqrtq(quad(positive))), 0x1p-102);
  }
}

TEST(DoubleDouble, CarriesInfinitiesAndNans) {
  const DoubleDouble inf = kInfinity, one = 1.0, zero = 0.0;
  EXPECT_EQ((inf + one).hi, kInfinity);
  EXPECT_EQ((inf * inf).hi, kInfinity);
  EXPECT_EQ((one / zero).hi, kInfinity);
  EXPECT_EQ((one / inf).hi, 0);
  EXPECT_TRUE(std::isnan((inf - inf).hi));
  EXPECT_TRUE(std::isnan((zero * inf).hi));
  EXPECT_EQ(sqrt(inf).hi, kInfinity);
  EXPECT_TRUE(std::isnan(sqrt(-one).hi));
}

TEST(WideMath, ExpStaysWithinItsStatedError) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const DoubleDouble x = drawn.wide(600);
    EXPECT_LE(ulps(wide_exp(x.hi), expq(x.hi)), 1) << x.hi;
    EXPECT_LE(relative_error(wide_exp(x), expq(quad(x))), 0x1p-102) << x.hi;
  }
}

TEST(WideMath, ErfcStaysWithinItsStatedError) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const DoubleDouble x = drawn.wide(25);
    EXPECT_LE(ulps(wide_erfc(x.hi), erfcq(x.hi)), 2) << x.hi;
    EXPECT_LE(relative_error(wide_erfc(x), erfcq(quad(x))), 0x1p-95) << x.hi;
  }
}

TEST(WideMath, Expm1AndLogStayWithinTheirStatedErrors) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const DoubleDouble x = drawn.wide(600);
    EXPECT_LE(relative_error(wide_expm1(x), expm1q(quad(x))), 0x1p-100) << x.hi;
    EXPECT_LE(ulps(wide_expm1(x.hi), expm1q(x.hi)), 0.51) << x.hi;
    const DoubleDouble size = x.hi < 0 ? -x : x, near_one = x * 0x1p-10 + 1.0;
    EXPECT_LE(relative_error(wide_log(size), logq(quad(size))), 0x1p-100) << size.hi;
    EXPECT_LE(ulps(wide_log(size.hi), logq(size.hi)), 0.51) << size.hi;
    // A quad does not hold 1 and both parts.
    const Quad above_one = static_cast<Quad>(near_one.hi) - 1 + near_one.lo;
    EXPECT_LE(relative_error(wide_log(near_one), log1pq(above_one)), 0x1p-100) << near_one.hi;
  }
}

TEST(WideMath, SinAndCosStayWithinTheirStatedErrors) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const DoubleDouble x = scale(1, i % 1000) * drawn.wide(12);
    EXPECT_LE(relative_error(wide_sin(x.hi), sinq(x.hi)), 0x1p-52) << x.hi;
    EXPECT_LE(relative_error(wide_sin(DoubleDouble(x.hi)), sinq(x.hi)), 0x1p-100) << x.hi;
    EXPECT_LE(relative_error(wide_cos(DoubleDouble(x.hi)), cosq(x.hi)), 0x1p-100) << x.hi;
  }
  // The double nearest to a multiple of pi / 2 (J.-M. Muller, Elementary Functions, 10.2).
  const double worst = 0x1.6ac5b262ca1ffp+849;
  EXPECT_LE(relative_error(wide_cos(DoubleDouble(worst)), cosq(worst)), 0x1p-100);
  EXPECT_LT(std::fabs(wide_cos(worst)), 0x1p-60);
}

TEST(WideMath, PowStaysWithinItsStatedError) {
  Drawn drawn;
  for (int i = 0; i < 20000; ++i) {
    const double x = std::fabs(drawn.wide(50).hi), y = drawn.wide(20).hi;
    EXPECT_LE(relative_error(wide_pow(x, y), powq(x, y)), 0x1p-92) << x << ' ' << y;
  }
}

TEST(WideMath, PowHasTheSpecialCasesOfTheStandard) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double x : {-kInfinity, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, kInfinity, nan}) {
    for (double y : {-kInfinity, -3.0, -2.0, -0.5, -0.0, 0.0, 0.5, 2.0, 3.0, kInfinity, nan}) {
      const double expected = std::pow(x, y), got = wide_pow(x, y).hi;
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << x << ' ' << y;
      } else if (std::isfinite(expected) && expected != 0) {
        EXPECT_NEAR(got, expected, 1e-14) << x << ' ' << y;
      } else {
        EXPECT_EQ(got, expected) << x << ' ' << y;
        EXPECT_EQ(std::signbit(got), std::signbit(expected)) << x << ' ' << y;
      }
    }
  }
}

TEST(WideMath, DropsNothingWhereResultsAreSubnormal) {
  for (double x : {-709.0, -720.5, -740.0, -745.0}) {
    EXPECT_NEAR(wide_exp(x), static_cast<double>(expq(x)), 0x1p-1074) << x;
    EXPECT_NEAR(wide_exp(DoubleDouble(x)).hi, static_cast<double>(expq(x)), 0x1p-1074) << x;
  }
  EXPECT_NEAR(wide_erfc(27.0), static_cast<double>(erfcq(27)), 0x1p-1074);
}

TEST(WideMath, ReachesItsLimits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(wide_exp(nan)));
  EXPECT_TRUE(std::isnan(wide_exp(DoubleDouble(nan)).hi));
  EXPECT_TRUE(std::isnan(wide_erfc(nan)));
  EXPECT_TRUE(std::isnan(wide_erfc(DoubleDouble(nan)).hi));
  EXPECT_EQ(wide_exp(kInfinity), kInfinity);
  EXPECT_EQ(wide_exp(DoubleDouble(kInfinity)).hi, kInfinity);
  EXPECT_EQ(wide_exp(710.0), kInfinity);
  EXPECT_EQ(wide_exp(-kInfinity), 0);
  EXPECT_EQ(wide_exp(DoubleDouble(-kInfinity)).hi, 0);
  EXPECT_EQ(wide_erfc(kInfinity), 0);
  EXPECT_EQ(wide_erfc(-kInfinity), 2);
  EXPECT_EQ(wide_erfc(DoubleDouble(-kInfinity)).hi, 2);
  EXPECT_EQ(wide_expm1(kInfinity), kInfinity);
  EXPECT_EQ(wide_expm1(-kInfinity), -1);
  EXPECT_EQ(wide_log(0.0), -kInfinity);
  EXPECT_EQ(wide_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(wide_log(-1.0)));
  EXPECT_TRUE(std::isnan(wide_sin(kInfinity)));
  EXPECT_TRUE(std::isnan(wide_cos(nan)));
  EXPECT_EQ(wide_log(0x1p-1074), static_cast<double>(logq(0x1p-1074)));
  EXPECT_EQ(wide_exp(0.0), 1);
  EXPECT_EQ(wide_erfc(DoubleDouble(0.0)).hi, 1);
}

// Golden bytes: trimmed inputs, and so every case that uses them, depend on these bits.
TEST(WideMath, HasTheSameBytesEverywhere) {
  EXPECT_EQ(wide_exp(1.0), 0x1.5bf0a8b14576ap+1);
  EXPECT_EQ(wide_exp(-7.3), 0x1.622d4792b6a8dp-11);
  EXPECT_EQ(wide_exp(-0x1.9p-9), 0x1.fe709c175746ap-1);
  EXPECT_EQ(wide_log(0.3), -0x1.34378fcbda721p+0);
  EXPECT_EQ(wide_sin(1e22), -0x1.b453ab76bf397p-1);
  EXPECT_EQ(wide_erfc(0.3), 0x1.57be3bbf10af9p-1);
  EXPECT_EQ(wide_erfc(-1.7), 0x1.fbd9b105c3a3ep+0);
  EXPECT_EQ(wide_erfc(4.1), 0x1.cc6c220bdae5cp-28);
  EXPECT_EQ(wide_erfc(DoubleDouble(4.1)).lo, 0x1.858ddf757edaap-83);
}

}  // namespace
}  // namespace bic

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "generators/counter_rng.h"
#include "generators/laws.h"

namespace bic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double widen_pattern(DType dtype, std::uint16_t pattern) {
  double value = 0;
  widen(dtype, std::as_bytes(std::span(&pattern, 1)), std::span(&value, 1));
  return value;
}

std::uint16_t narrow_value(DType dtype, double value) {
  std::uint16_t pattern = 0;
  narrow(dtype, std::span(&value, 1), std::as_writable_bytes(std::span(&pattern, 1)));
  return pattern;
}

/// sign * 1.f * 2^e by the format's definition, with the C library.
double defined_value(DType dtype, std::uint16_t pattern) {
  const int stored = precision(dtype) - 1;
  const int bias = dtype == DType::kBFloat16 ? 127 : 15;
  const int exponent = (pattern & 0x7fff) >> stored;
  const int fraction = pattern & ((1 << stored) - 1);
  const double sign = (pattern & 0x8000) != 0 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction != 0 ? std::nan("") : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - stored);
  return sign * std::ldexp(fraction + (1 << stored), exponent - bias - stored);
}

class SixteenBits : public testing::TestWithParam<DType> {};

TEST_P(SixteenBits, WidenFollowsTheFormatForAllPatterns) {
  for (int p = 0; p < 65536; ++p) {
    const auto pattern = static_cast<std::uint16_t>(p);
    const double expected = defined_value(GetParam(), pattern);
    const double value = widen_pattern(GetParam(), pattern);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << std::hex << p;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(expected))
          << std::hex << p;
    }
  }
}

TEST_P(SixteenBits, NarrowReturnsAllPatternsExceptOtherNans) {
  const std::uint16_t nan = GetParam() == DType::kBFloat16 ? 0x7fc0 : 0x7e00;
  for (int p = 0; p < 65536; ++p) {
    const auto pattern = static_cast<std::uint16_t>(p);
    const bool is_nan = std::isnan(defined_value(GetParam(), pattern));
    ASSERT_EQ(narrow_value(GetParam(), widen_pattern(GetParam(), pattern)), is_nan ? nan : pattern);
  }
}

/// Between all neighbours: below the middle, on it, above it; by one unit of the double.
TEST_P(SixteenBits, NarrowRoundsOnceToNearestEven) {
  const std::uint16_t largest = GetParam() == DType::kBFloat16 ? 0x7f7f : 0x7bff;
  for (std::uint16_t p = 0; p < largest; ++p) {
    const auto next = static_cast<std::uint16_t>(p + 1);
    const double low = widen_pattern(GetParam(), p);
    const double middle = low + (widen_pattern(GetParam(), next) - low) / 2;
    const std::uint16_t even = p % 2 == 0 ? p : next;
    ASSERT_EQ(narrow_value(GetParam(), std::nextafter(middle, 0)), p);
    ASSERT_EQ(narrow_value(GetParam(), middle), even);
    ASSERT_EQ(narrow_value(GetParam(), std::nextafter(middle, kInfinity)), next);
    ASSERT_EQ(narrow_value(GetParam(), -middle), even | 0x8000);
  }
}

TEST_P(SixteenBits, NarrowOverflowsToInfinityFromTheMiddleOn) {
  const std::uint16_t largest = GetParam() == DType::kBFloat16 ? 0x7f7f : 0x7bff;
  const double top = widen_pattern(GetParam(), largest);
  const double below = widen_pattern(GetParam(), static_cast<std::uint16_t>(largest - 1));
  const double middle = top + (top - below) / 2;
  EXPECT_EQ(narrow_value(GetParam(), std::nextafter(middle, 0)), largest);
  EXPECT_EQ(narrow_value(GetParam(), middle), largest + 1);
  EXPECT_EQ(narrow_value(GetParam(), -1e300), (largest + 1) | 0x8000);
  EXPECT_EQ(narrow_value(GetParam(), std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(narrow_value(GetParam(), -0.0), 0x8000);
}

TEST_P(SixteenBits, RoundToIsNarrowThenWiden) {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const double value = std::bit_cast<double>(random_bits(1, i) & ~(std::uint64_t{0x3} << 60)) *
                         std::ldexp(1, static_cast<int>(i % 900));
    const double expected = widen_pattern(GetParam(), narrow_value(GetParam(), value));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(round_to(GetParam(), value)),
              std::bit_cast<std::uint64_t>(expected))
        << value;
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes,
                         SixteenBits,
                         testing::Values(DType::kBFloat16, DType::kFloat16),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Convert, DoubleRoundingByWayOfFp32WouldShow) {
  // Just above the middle of 1 and its bf16 (fp16) neighbour: fp32 rounds it onto the middle.
  const double bf16_trap = 1 + 0x1p-8 + 0x1p-40;
  const double fp16_trap = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(narrow_value(DType::kBFloat16, bf16_trap), 0x3f81);
  EXPECT_EQ(narrow_value(DType::kBFloat16, static_cast<float>(bf16_trap)), 0x3f80);
  EXPECT_EQ(narrow_value(DType::kFloat16, fp16_trap), 0x3c01);
  EXPECT_EQ(narrow_value(DType::kFloat16, static_cast<float>(fp16_trap)), 0x3c00);
}

TEST(Convert, NanBecomesTheCanonicalOne) {
  const double nan = -std::bit_cast<double>(std::uint64_t{0x7ff0000000000001});
  std::uint32_t fp32 = 0;
  std::uint64_t fp64 = 0;
  narrow(DType::kFloat32, std::span(&nan, 1), std::as_writable_bytes(std::span(&fp32, 1)));
  narrow(DType::kFloat64, std::span(&nan, 1), std::as_writable_bytes(std::span(&fp64, 1)));
  EXPECT_EQ(fp32, 0x7fc00000U);
  EXPECT_EQ(fp64, 0x7ff8000000000000U);
  EXPECT_EQ(narrow_value(DType::kBFloat16, nan), 0x7fc0);
  EXPECT_EQ(narrow_value(DType::kFloat16, nan), 0x7e00);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(round_to(DType::kFloat32, nan)), 0x7ff8000000000000U);
}

TEST(Convert, ArraysOfAnyLengthEqualSingleValues) {
  for (const DType dtype : kAllDTypes) {
    const auto width = static_cast<std::size_t>(size_of(dtype));
    for (const std::size_t n : {1, 3, 255, 256, 257, 1000}) {
      std::vector<double> values(n);
      for (std::size_t i = 0; i < n; ++i) {
        values[i] =
            std::ldexp(static_cast<double>(random_bits(3, i)), static_cast<int>(i % 40) - 90);
      }
      std::vector<std::byte> bytes(n * width + 1);
      narrow(dtype, values, std::span(bytes).subspan(1));  // not aligned
      std::vector<double> back(n);
      widen(dtype, std::span(bytes).subspan(1), back);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(back[i], round_to(dtype, values[i])) << i;
    }
  }
}

}  // namespace
}  // namespace bic

// Laws of neighbours that must not reach a sample: a leak shows as NaN, Inf or a huge value in it.
#include <limits>

#include "generators/values.h"

namespace bic {
namespace {

/// Exponent of the smallest subnormal and of the largest finite value.
struct Range {
  int smallest;
  int largest;
};

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return {-149, 127};
    case DType::kBFloat16:
      return {-133, 127};
    case DType::kFloat16:
      return {-24, 15};
    case DType::kFloat64:
      return {-1074, 1023};
  }
  return {};
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double signed_as(std::uint64_t bits, double magnitude) {
  return (bits >> 63) != 0 ? -magnitude : magnitude;
}

/// An odd multiple of the smallest subnormal below the smallest normal value.
double subnormal(DType dtype, std::uint64_t bits) {
  const std::uint64_t count = (bits & ((std::uint64_t{1} << (precision(dtype) - 1)) - 1)) | 1;
  if (dtype == DType::kFloat64) return std::bit_cast<double>((bits >> 63) << 63 | count);
  const double smallest = draws::scaled(0, range_of(dtype).smallest, 0);
  return signed_as(bits, static_cast<double>(count) * smallest);
}

}  // namespace

Values special_values(const Block& block) {
  return from_bits(block, [dtype = block.problem.dtype](std::uint64_t bits, double below) {
    switch (bits & 15) {
      case 0:
        return kNan;
      case 1:
        return kInfinity;
      case 2:
        return -kInfinity;
      case 3:
        return -0.0;
      case 4:
      case 5:
        return subnormal(dtype, bits >> 4 | bits << 60);
      default:
        return draws::normal(bits, below);
    }
  });
}

Values nan_values(const Block&) {
  return [](std::int64_t, std::span<double> out) { std::fill(out.begin(), out.end(), kNan); };
}

Values inf_values(const Block& block) {
  return from_bits(block, [](std::uint64_t bits, double) { return signed_as(bits, kInfinity); });
}

Values denormal_values(const Block& block) {
  return from_bits(block, [dtype = block.problem.dtype](std::uint64_t bits, double) {
    return subnormal(dtype, bits);
  });
}

Values huge_values(const Block& block) {
  const int exponent = range_of(block.problem.dtype).largest;
  // No more bits than the dtype holds: rounding up would make an infinity of the largest.
  const std::uint64_t kept = ~std::uint64_t{0} << (53 - precision(block.problem.dtype));
  return from_bits(block, [=](std::uint64_t bits, double) {
    return draws::scaled(bits >> 63, exponent, bits & kept);
  });
}

}  // namespace bic

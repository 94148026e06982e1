#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "results_schema/vocabulary.h"

namespace bic {

/// Shares of an output's value. Its fp32 evaluation errs by some 2^-24: nearer than this to a
/// boundary changes nothing.
inline constexpr double kNearEnough = 0x1p-28;

/// Exponent of the smallest subnormal.
inline int smallest_exponent(DType dtype) {
  return dtype == DType::kFloat16 ? -24 : dtype == DType::kBFloat16 ? -133 : -149;
}

/// Distance of neighbours of `value` in `dtype`; not for fp64.
inline double spacing(DType dtype, double value) {
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - 1023;
  const int place = std::max(exponent - precision(dtype) + 1, smallest_exponent(dtype));
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + place) << 52);
}

/// The value in the interval between two neighbours in `dtype` at which an output changes sides.
/// For 16 bits the output is an fp32 value first, and one on the middle goes to the even neighbour:
/// so the sides part half an fp32 unit beyond the middle. `aim` fp32 units are added there. Finite
/// input below 2^1000.
inline double boundary_near(DType dtype, double value, double aim) {
  const double unit = spacing(dtype, value);
  const double magnitude = value < 0 ? -value : value;
  const auto below = static_cast<std::int64_t>(magnitude / unit);
  double boundary = (static_cast<double>(below) + 0.5) * unit;
  const double fine_unit = spacing(DType::kFloat32, boundary);
  const double to_side = below % 2 == 0 ? 0.5 : -0.5;
  if (dtype != DType::kFloat32) boundary += (to_side + aim) * fine_unit;
  return value < 0 ? -boundary : boundary;
}

inline double distance(double a, double b) { return a < b ? b - a : a - b; }

}  // namespace bic

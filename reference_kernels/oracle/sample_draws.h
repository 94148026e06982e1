#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "generators/laws.h"
#include "reference_kernels/oracle/reference.h"

namespace bic::testing_support {

/// Operands that own their values.
struct Sample {
  std::vector<std::vector<double>> values;
  Dims dims;
  Attributes attributes;

  Operands operands() const {
    Operands all{{}, dims, attributes};
    for (const auto& v : values) all.values.emplace_back(v);
    return all;
  }
};

/// What the drawn values look like; each stresses another term of a bound.
enum class Kind : std::uint8_t { kNormal, kWide, kCancelling, kOffset, kTiny, kIntegers, kCount };

inline double draw(std::mt19937_64& rng, Kind kind, DType dtype) {
  const double normal = std::normal_distribution<double>()(rng);
  switch (kind) {
    case Kind::kWide:
      return std::ldexp(normal, static_cast<int>(rng() % 13) - 8);
    case Kind::kOffset:
      return 100 + normal;
    case Kind::kTiny: {
      // Products of two of them lie below the smallest normal number of the accumulator.
      const int exponent = dtype == DType::kFloat64 ? -520 : dtype == DType::kFloat16 ? -15 : -64;
      return std::ldexp(normal, exponent);
    }
    case Kind::kIntegers:
      return static_cast<double>(static_cast<int>(rng() % 65) - 32);
    default:
      return normal;
  }
}

/// `count` values of `kind`, exact in `dtype`.
inline std::vector<double> draw_many(std::mt19937_64& rng,
                                     Kind kind,
                                     DType dtype,
                                     std::int64_t count) {
  std::vector<double> values(count);
  for (double& v : values) v = round_to(dtype, draw(rng, kind, dtype));
  if (kind != Kind::kCancelling) return values;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    values[i] = round_to(dtype, std::ldexp(values[i], 6));
    values[i + 1] = -values[i];
  }
  std::shuffle(values.begin(), values.end(), rng);
  return values;
}

inline Sample normal_row(std::mt19937_64& rng,
                         DType dtype,
                         std::int64_t h,
                         Attributes attributes = {}) {
  return {{draw_many(rng, Kind::kNormal, dtype, h)}, {{"h", h}}, std::move(attributes)};
}

inline Kind draw_kind(std::mt19937_64& rng) {
  return static_cast<Kind>(rng() % static_cast<std::uint64_t>(Kind::kCount));
}

inline std::vector<std::int64_t> all_elements(std::int64_t count) {
  std::vector<std::int64_t> elements(count);
  std::iota(elements.begin(), elements.end(), 0);
  return elements;
}

/// The arithmetic of the controls.
inline Arithmetic reference_arithmetic(DType dtype) {
  Arithmetic arithmetic;
  if (dtype == DType::kFloat64) arithmetic.accumulator = DType::kFloat64;
  return arithmetic;
}

inline std::vector<Wide> wide_of(const Reference& reference,
                                 const Sample& sample,
                                 DType dtype,
                                 std::span<const std::int64_t> elements) {
  std::vector<Wide> y(elements.size());
  reference.wide(sample.operands(), dtype, elements, y);
  return y;
}

inline std::vector<double> bound_of(const Reference& reference,
                                    const Sample& sample,
                                    DType dtype,
                                    const Arithmetic& arithmetic,
                                    std::span<const std::int64_t> elements) {
  std::vector<double> bound(elements.size());
  reference.bound(sample.operands(), dtype, arithmetic, elements, bound);
  return bound;
}

inline std::vector<double> control_of(const Reference& reference,
                                      const Sample& sample,
                                      DType dtype,
                                      Order order,
                                      std::span<const std::int64_t> elements) {
  std::vector<double> y(elements.size());
  reference.control(sample.operands(), dtype, order, elements, y);
  return y;
}

/// |y - oracle|.
inline double distance(double y, Wide oracle) { return std::fabs((y - oracle.hi) - oracle.lo); }

}  // namespace bic::testing_support

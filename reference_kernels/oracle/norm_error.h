#pragma once

#include <algorithm>
#include <cmath>

#include "reference_kernels/oracle/error_analysis.h"

namespace bic {

/// 1 / sqrt(variance + eps), by a root and a division. A computed variance is never negative.
inline Approx rstd_of(const ErrorAnalysis& analysis, Approx variance, double eps) {
  const Approx shifted = analysis.add(variance, analysis.rounded(eps));
  const double floor = eps * (1 - 4 * analysis.unit());
  const double least = std::max(shifted.value - shifted.error, floor);
  const double value = 1 / std::sqrt(shifted.value);
  const double error =
      std::max(1 / std::sqrt(least) - value, value - 1 / std::sqrt(shifted.value + shifted.error));
  return {value, error + analysis.gamma(2) * (value + error)};
}

/// x * scale + (shift - mean * scale). The two products share one scale: its error scales their
/// difference, only their roundings scale with |x| and |mean|.
inline Approx folded(
    const ErrorAnalysis& analysis, double x, Approx mean, Approx scale, double shift = 0) {
  const double largest = std::fabs(scale.value) + scale.error;
  const double deviation = x - mean.value;
  const Approx product = analysis.mul(mean, scale);
  double roundings =
      largest * (std::fabs(x) + std::fabs(mean.value) + mean.error) * analysis.unit() +
      2 * analysis.underflow();
  if (shift != 0) {
    roundings += (std::fabs(shift - product.value) + product.error) * analysis.unit();
  }
  const Approx y{deviation * scale.value + shift,
                 std::fabs(deviation) * scale.error + largest * mean.error + roundings};
  return analysis.add(y, {0, 0});
}

}  // namespace bic

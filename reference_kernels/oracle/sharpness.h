#pragma once

#include <cmath>
#include <vector>

#include "reference_kernels/oracle/sample_draws.h"

namespace bic::testing_support {

inline constexpr int kProblems = 200;

/// Rounds to `bits` significant bits.
inline double shorten(double x, int bits) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

inline std::vector<double> shortened(std::vector<double> values, int bits) {
  for (double& v : values) v = shorten(v, bits);
  return values;
}

/// Share of outputs of `wrong` that are outside the bounds of `right`, as evaluated by the control
/// in sequence.
inline double share_outside(const Reference& reference,
                            DType dtype,
                            const Sample& right,
                            const Sample& wrong,
                            std::int64_t outputs) {
  const auto elements = all_elements(outputs);
  const auto oracle = wide_of(reference, right, dtype, elements);
  const auto bound = bound_of(reference, right, dtype, reference_arithmetic(dtype), elements);
  const auto y = control_of(reference, wrong, dtype, Order::kSequential, elements);
  int outside = 0;
  for (std::size_t i = 0; i < y.size(); ++i) outside += distance(y[i], oracle[i]) > bound[i];
  return static_cast<double>(outside) / static_cast<double>(outputs);
}

}  // namespace bic::testing_support

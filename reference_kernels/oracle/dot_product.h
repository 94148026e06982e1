#pragma once

#include <cmath>
#include <cstdint>

#include "reference_kernels/oracle/double_double.h"
#include "reference_kernels/oracle/error_analysis.h"
#include "reference_kernels/oracle/summation.h"

namespace bic {

template <class A>
A product(double a, double b) {
  return static_cast<A>(a) * static_cast<A>(b);
}
template <>
inline DoubleDouble product<DoubleDouble>(double a, double b) {
  return two_prod(a, b);
}

/// One output of a contraction: alpha times the sum of a[i] * b[i] for i < k, plus beta times the
/// bias.
struct DotProduct {
  const double* a;
  const double* b;
  std::int64_t k;
  const double* bias = nullptr;  ///< or null
  double alpha = 1, beta = 1;
  bool scaled = false;

  /// In type A, the sum in `order`.
  template <class A>
  A evaluate(Order order) const {
    A y = sum_in_order<A>(order, k, [&](std::int64_t i) { return product<A>(a[i], b[i]); });
    if (scaled) y = static_cast<A>(alpha) * y;
    if (bias != nullptr) y += scaled ? product<A>(beta, *bias) : static_cast<A>(*bias);
    return y;
  }

  /// gamma_K sum |a b|: every term goes through at most its own product and K - 1 additions, with
  /// or without fused multiply-add, in any order (Higham 3.1); the bias makes it K + 1, factors
  /// K + 2, applied to terms or to their sum. Form "round-before-bias": see matmul_reference. Form
  /// "tensor-core": exact products of four and more terms are aligned to the largest with at least
  /// two bits more, added to the sum so far, and truncated, so that u is 2^-23 (Fasi, Higham,
  /// Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, 2021; Blanchard, Higham, Lopez,
  /// Mary, Pranesh: Mixed precision block fused multiply-add, 2020), with K + 2 terms.
  double bound(const ErrorAnalysis& analysis) const;
};

}  // namespace bic

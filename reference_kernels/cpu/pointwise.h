#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

enum class PointwiseFunction : std::uint8_t {
  kSilu,     ///< x / (1 + exp(-x))
  kSigmoid,  ///< 1 / (1 + exp(-x))
  kTanh,
  kExp,
  kLog,
  kRsqrt,  ///< 1 / sqrt(x)
  kSin,
  kCos,
};

/// Operands of `pointwise`.
template <class T>
struct PointwiseArgs {
  const T* x = nullptr;
  T* y = nullptr;  ///< may be x
  std::int64_t n = 0;
  PointwiseFunction function = PointwiseFunction::kSilu;
};

/// Operands of `power`: y = x^e.
template <class T>
struct PowerArgs {
  const T* x = nullptr;
  const T* exponents = nullptr;  ///< n of them, or null: `exponent` is that of all
  double exponent = 1;
  T* y = nullptr;  ///< may be x or exponents
  std::int64_t n = 0;
};

/// Operands of `scaled_sum`: y = x + alpha other.
template <class T>
struct ScaledSumArgs {
  const T* x = nullptr;
  const T* other = nullptr;
  double alpha = 1;  ///< rounded to the type of the arithmetic
  T* y = nullptr;    ///< may be x or other
  std::int64_t n = 0;
};

// y[i] = f(x[i]), y[i] = x[i]^e[i] and y[i] = x[i] + alpha o[i]
//
// Shapes       n contiguous elements each.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t. double in double; the others too,
//              with shorter polynomials, then rounded to float, and that to a 16-bit T; but
//              rsqrt and sums of theirs in float.
// Accuracy     float: at most 1 ulp, rsqrt 1.5. double: log, sin and cos at most 1 ulp; exp,
//              pow and rsqrt 1.5; silu, sigmoid and tanh 3. Of any argument, on targets with
//              fused multiply-add. Powers 2 and 3 given for all are products; sums are fused
//              multiply-adds. Underflow is gradual.
// NaN, Inf     As in C; silu(-Inf) is NaN, as in ATen. Every NaN is the canonical one of T.
// Order        None: every element is computed by one and the same piece of vector code; a
//              tail is copied into a full vector. Arguments of sin and cos beyond 2^26 are
//              reduced one by one.
// Invariant    y[i] is a function of x[i], e[i] or o[i], alpha and T alone. The same bits on
//              AVX2 and AVX-512.
// Not claimed  Equal bits or that accuracy on the baseline target (SSSE3, which has no fused
//              multiply-add).
// Threads      Below 131072 elements no task is handed to `parallel`.
// Checked by   reference_kernels/cpu/pointwise_test.cpp
template <class T>
void pointwise(const PointwiseArgs<T>& args, const ParallelFor& parallel);
template <class T>
void power(const PowerArgs<T>& args, const ParallelFor& parallel);
template <class T>
void scaled_sum(const ScaledSumArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

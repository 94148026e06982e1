#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Operands of `batch_norm`, dense: x and y are [outer, channels, inner]. y may be x.
template <class T>
struct BatchNormArgs {
  const T* x = nullptr;
  const T* mean = nullptr;      ///< [channels]
  const T* variance = nullptr;  ///< [channels]
  const T* weight = nullptr;    ///< [channels] or null
  const T* bias = nullptr;      ///< [channels] or null
  T* y = nullptr;
  std::int64_t outer = 0, channels = 0, inner = 1;
  double eps = 1e-5;
};

// y[o,c,i] = (x[o,c,i] - mean[c]) * s[c] + bias[c], s[c] = 1 / sqrt(variance[c] + eps) * weight[c]
//
// Shapes       all extents >= 0. Inference only: mean and variance are given.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t, one for all tensors; computed in
//              double for double, else float (eps too). One rounding to T, to nearest even. NaN
//              outputs are the canonical quiet NaN of T.
// Order        d = x - mean, rounded; fma(d, s, bias), in vectors whose tails take the same
//              instructions. s is one root, one division, one product; without weight or bias they
//              are 1 and 0.
// Invariant    An element of y is a function of the element of x, its channel's parameters, eps and
//              T alone. The same on AVX2 and AVX-512.
// Not claimed  Equal bits on the baseline target (SSSE3: no fused multiply-add).
// Threads      Below 131072 elements no task is handed to `parallel`.
// Source       arXiv:1502.03167.
// Checked by   reference_kernels/cpu/batch_norm_test.cpp
template <class T>
void batch_norm(const BatchNormArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

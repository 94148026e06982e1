#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Operands of `layer_norm`. Rows are contiguous; row strides count elements. y may be x.
/// Layer and RMS norm have one weight an element; in group norm `inner` consecutive elements share
/// one (a channel's), and `groups` consecutive rows (a sample's) have weights of their own.
template <class T>
struct LayerNormArgs {
  const T* x = nullptr;       ///< [rows, h]
  const T* weight = nullptr;  ///< [groups, h / inner] or null
  const T* bias = nullptr;    ///< [groups, h / inner] or null
  T* y = nullptr;             ///< [rows, h]
  T* mean = nullptr;          ///< [rows] or null
  T* rstd = nullptr;          ///< [rows] or null
  std::int64_t rows = 0, h = 0;
  std::int64_t x_row = 0, y_row = 0;
  double eps = 1e-5;
  bool center = true;  ///< false: the mean is taken as 0, as RMS norm does
  std::int64_t groups = 1, inner = 1;
};

// y[r,i] = (x[r,i] - mean[r]) * rstd[r] * weight[p] + bias[p], p = (r % groups, i / inner),
// mean = sum_i x / h, rstd = 1 / sqrt(sum_i (x - mean)^2 / h + eps)
//
// Shapes       rows >= 0, h >= 0 (h = 0: mean and rstd are NaN).
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t, one for all tensors; computed in
// double for
//              double, else float (eps too). One rounding to T, to nearest even. NaN outputs are
//              the canonical quiet NaN of T.
// Order        Two passes. Both sums have 16 lanes, i = l, l + 16, ... from +0, then lanes l + 8, l
// + 4,
//              l + 2, l + 1; the second fuses d * d + lane, d = x - mean rounded. var = sum / h;
//              rstd is one square root and one division. y: t = d * rstd; fma(t, weight, bias), t *
//              weight or t + bias as they are given.
// Invariant    The bits of row r of y, mean and rstd are a function of row r of x, its weights and
//              biases, h, eps and T alone. The same on AVX2 and AVX-512.
// Not claimed  Equal bits on the baseline target (SSSE3: no fused multiply-add).
// Threads      Below 131072 elements no task is handed to `parallel`.
// Source       arXiv:1607.06450, arXiv:1910.07467 (RMS), arXiv:1803.08494 (groups); the order is
//              ours.
// Checked by   reference_kernels/cpu/layer_norm_test.cpp
template <class T>
void layer_norm(const LayerNormArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

#pragma once

#include "reference_kernels/cpu/layer_norm.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// y[r,i] = (x[r,i] - mean[r]) * rstd[r] * weight[p] + bias[p], p = (r % groups, i / inner),
// mean = sum_i x / h, rstd = 1 / sqrt(sum_i (x - mean)^2 / h + eps)
//
// Shapes, dtypes and special values as in reference_kernels/cpu/layer_norm.h.
//
// Order        Two passes. Both sums have 256 lanes from +0. V = 16 / sizeof(T) neighbours are of
//              one lane: element i is added to lane i / V % 256, in ascending i; then lanes
//              l + 128, l + 64, ..., l + 1. The second fuses d * d + lane, d = x - mean rounded.
//              var = sum / h; rstd is one square root and one division. y: t = d * rstd;
//              fma(t, weight, bias), t * weight or t + bias as they are given.
// Invariant    The bits of row r of y, mean and rstd are a function of row r of x, its weights and
//              biases, h, eps and T alone: a warp or a block takes a row, as rows are many or few,
//              and each of its threads the lanes that the other's would.
// Not claimed  The bits of the CPU's kernel: its sums have 16 lanes.
// Source       arXiv:1607.06450, arXiv:1910.07467 (RMS), arXiv:1803.08494 (groups); the order is
//              ours.
// Checked by   reference_kernels/cuda/layer_norm_test.cpp
template <class T>
void layer_norm(const cpu::LayerNormArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Operands of `gemm`. All strides count elements, may be 0 (broadcast) or negative.
template <class T>
struct GemmArgs {
  const T* a = nullptr;     ///< [batch, m, k] at a_batch, a_row, a_k
  const T* w = nullptr;     ///< [batch, k, n] at w_batch, w_k, w_n
  const T* bias = nullptr;  ///< [n], contiguous, common to all batches; or null
  T* y = nullptr;           ///< [batch, m, n] at y_batch, y_row, 1; must not overlap an input
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_row = 0, a_k = 1;
  std::int64_t w_k = 1, w_n = 0;  ///< NT (a weight stored [n, k]): w_k = 1; NN: w_n = 1
  std::int64_t y_row = 0;
  std::int64_t batch = 1, a_batch = 0, w_batch = 0, y_batch = 0;
};

// y[b,i,j] = sum_k a[b,i,k] * w[b,k,j] (+ bias[j])
//
// Shapes       m, n, k, batch >= 0; k = 0 gives +0 (+ bias). Any strides of a and w; fast are
//              w_k == 1 (NT) and w_n == 1 (NN). The last stride of y is 1.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t. Sums and the addition of the bias
// are
//              in the accumulator type: double for double, else float. One rounding to T, to
//              nearest even. NaN outputs are the canonical quiet NaN of T.
// Order        kLanes = 16 virtual lanes (double: 8). Lane l runs one chain of fused multiply-adds
//              from +0 over k = l, l + kLanes, l + 2 kLanes, ...; bf16 has two k a lane and step:
//              lane l adds k = 32 s + 2 l + 1, then 32 s + 2 l, for s = 0, 1, ... Then lanes l and
//              l + 8 are added, then l + 4, l + 2, l + 1; then + 0.0 (no sum is -0); then +
//              bias[j].
// Invariant    The bits of y[b,i,j] are a function of row (b,i) of a, column (b,j) of w, bias[j], k
// and T
//              alone: not of m, n, batch, i, j, threads, alignment, strides, NT or NN. Zeros
//              appended to k in both operands change no bit. The same on AVX2 and AVX-512.
// Not claimed  The bits of the baseline target (SSSE3: no fused multiply-add, two roundings a term)
//              equal only themselves. Denormals assume the default MXCSR (no FTZ, no DAZ).
// Threads      Below 32768 multiply-adds no task is handed to `parallel`.
// Source       The order is ours; the error bound is gamma_(K/16 + 5) sum |a||w| (Higham
// 2002, 3.1). Checked by   reference_kernels/cpu/gemm_test.cpp
template <class T>
void gemm(const GemmArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

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
  const T* bias = nullptr;  ///< [batch, m, n] at bias_batch, bias_row, bias_n (0 or 1); or null
  T* y = nullptr;  ///< [batch, m, n] at y_batch, y_row, 1; overlaps no input but itself as bias
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_row = 0, a_k = 1;
  std::int64_t w_k = 1, w_n = 0;  ///< NT (a weight stored [n, k]): w_k = 1; NN: w_n = 1
  std::int64_t y_row = 0;
  std::int64_t batch = 1, a_batch = 0, w_batch = 0, y_batch = 0;
  std::int64_t bias_batch = 0, bias_row = 0, bias_n = 1;  ///< as they are, one row common to all
  double alpha = 1, beta = 1;                             ///< rounded to the accumulator type
};

// y[b,i,j] = alpha * sum_k a[b,i,k] * w[b,k,j] (+ beta * bias[b,i,j])
//
// Shapes       m, n, k, batch >= 0; k = 0 gives +0 (+ beta * bias). Any strides of a and w; fast
//              are w_k == 1 (NT) and w_n == 1 (NN). The last stride of y is 1.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t. Sums and what follows them are in
//              the accumulator type: double for double, else float. One rounding to T, to nearest
//              even. NaN outputs are the canonical quiet NaN of T.
// Order        kLanes = 16 virtual lanes (double: 8). Lane l runs one chain of fused multiply-adds
//              from +0 over k = l, l + kLanes, l + 2 kLanes, ...; bf16 has two k a lane and step:
//              lane l adds k = 32 s + 2 l + 1, then 32 s + 2 l, for s = 0, 1, ... (by VDPBF16PS
//              where gemm_flushes_bf16(): the same two roundings). Then lanes l and l + 8 are
//              added, then l + 4, l + 2, l + 1; then + 0.0 (no sum is -0); then times alpha; then +
//              (beta * bias[b,i,j]), three roundings that alpha = beta = 1 makes one.
// Invariant    The bits of y[b,i,j] are a function of row (b,i) of a, column (b,j) of w,
//              bias[b,i,j], alpha, beta, k and T alone: not of m, n, batch, i, j, threads,
//              alignment, strides, NT or NN. Zeros appended to k in both operands change no bit.
//              The same on AVX2 and AVX-512, but for bf16 with subnormals.
// Not claimed  The bits of the baseline target (SSSE3: no fused multiply-add, two roundings a term)
//              equal only themselves. Subnormals assume the default MXCSR (no FTZ, no DAZ); where
//              gemm_flushes_bf16(), those among the operands and the partial sums of a lane count
//              as 0 whatever it says, in every kernel and for every shape.
// Threads      Below 131072 multiply-adds no task is handed to `parallel`.
// Source       The order is ours; the error bound is gamma_(K/16 + 5) sum |a||w| (Higham 2002,
//              3.1), for alpha = beta = 1, and where bf16 flushes 2^-126 a term and |a w| of terms
//              with a subnormal operand. VDPBF16PS: Intel SDM; that it is two fmaf that flush is
//              tested where there is one (so far AMD Zen 4).
// Checked by   reference_kernels/cpu/gemm_test.cpp, gemm_value_test.cpp
template <class T>
void gemm(const GemmArgs<T>& args, const ParallelFor& parallel);

/// Whether bf16 goes through VDPBF16PS here, which takes subnormals for 0.
bool gemm_flushes_bf16();

}  // namespace bic::cpu

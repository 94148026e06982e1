#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Operands of `softmax`: x and y seen as [outer, reduced, inner]. Strides count elements. y may be
/// x with the same strides.
template <class T>
struct SoftmaxArgs {
  const T* x = nullptr;
  T* y = nullptr;
  std::int64_t outer = 1, reduced = 0, inner = 1;
  std::int64_t x_outer = 0, x_reduced = 1, x_inner = 0;
  std::int64_t y_outer = 0, y_reduced = 1, y_inner = 0;
};

// y[o,r,j] = e[r] / sum_r e[r], e[r] = exp(x[o,r,j] - max_r x[o,r,j])
//
// Shapes       all extents >= 0, any strides; rows are copied to a buffer whatever their layout, so
//              that one piece of code computes them all.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; everything in double for double,
// else
//              float. One rounding to T, to nearest even.
// Order        d = x - max, rounded; exp by one polynomial in body and tail alike, at most 1.5 ulp
// off
//              (2.5 on the baseline target); the sum as `sum` does it: 16 lanes r = l, l + 16, ...
//              from +0, then l + 8, l + 4, l + 2, l + 1; then one division an element.
// NaN, Inf     A NaN or +Inf in a row, or a row of -Inf only, makes the whole row the canonical NaN
// of T.
//              Any other -Inf gives +0.
// Invariant    The bits of a row of y are a function of that row of x, `reduced` and T alone. The
// same
//              on AVX2 and AVX-512.
// Not claimed  Equal bits on the baseline target (SSSE3: no fused multiply-add in the polynomial).
// Threads      Below 32768 elements no task is handed to `parallel`.
// Source       max-shifted softmax, https://doi.org/10.1093/imanum/draa038; the order is ours.
// Checked by   reference_kernels/cpu/softmax_test.cpp
template <class T>
void softmax(const SoftmaxArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

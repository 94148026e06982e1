#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Operands of `softmax`: x and y seen as [outer, reduced, inner]. Strides count elements. y may be
/// x with the same strides. `logsumexp` has one y for all of `reduced`.
template <class T>
struct SoftmaxArgs {
  const T* x = nullptr;
  T* y = nullptr;
  std::int64_t outer = 1, reduced = 0, inner = 1;
  std::int64_t x_outer = 0, x_reduced = 1, x_inner = 0;
  std::int64_t y_outer = 0, y_reduced = 1, y_inner = 0;
};

// softmax      y[o,r,j] = e[r] / sum_r e[r], e[r] = exp(x[o,r,j] - max_r x[o,r,j])
// log_softmax  y[o,r,j] = (x[o,r,j] - max_r x[o,r,j]) - log sum_r e[r]
// logsumexp    y[o,j] = log sum_r e[r] + max_r x[o,r,j]
//
// Shapes       all extents >= 0, any strides. Rows are copied to a buffer and computed there, or a
//              vector of them side by side, by the same operations. reduced = 0 gives logsumexp
//              -Inf.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; everything in double for double, and
//              in float else. One rounding to T, to nearest even.
// Order        d = x - max, rounded; exp by one polynomial in body and tail alike, at most 1.5 ulp
//              off (2.5 on the baseline target); the sum as `sum` does it: 16 lanes r = l, l + 16,
//              ... from +0, then l + 8, l + 4, l + 2, l + 1; then one division an element, or one
//              logarithm a row (that of the C library, taken in double) and a subtraction an
//              element.
// NaN, Inf     A NaN or +Inf in a row, or a row of -Inf only, makes the whole row the canonical NaN
//              of T. Any other -Inf gives +0, and -Inf for log_softmax. logsumexp is NaN for a NaN
//              only, else +Inf for a +Inf, -Inf for a row of -Inf.
// Invariant    The bits of a row of y are a function of that row of x, `reduced` and T alone. The
//              same on AVX2 and AVX-512.
// Not claimed  Equal bits on the baseline target (SSSE3: no fused multiply-add in the polynomial).
// Threads      Below 131072 elements no task is handed to `parallel`; rows side by side are split
// by
//              vectors.
// Source       max-shifted forms, https://doi.org/10.1093/imanum/draa038; the order is ours.
// Checked by   reference_kernels/cpu/softmax_test.cpp, log_softmax_test.cpp
template <class T>
void softmax(const SoftmaxArgs<T>& args, const ParallelFor& parallel);
template <class T>
void log_softmax(const SoftmaxArgs<T>& args, const ParallelFor& parallel);
template <class T>
void logsumexp(const SoftmaxArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

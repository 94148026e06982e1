#pragma once

#include "reference_kernels/cpu/softmax.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// softmax      y[o,r,j] = e[r] / sum_r e[r], e[r] = exp(x[o,r,j] - max_r x[o,r,j])
// log_softmax  y[o,r,j] = (x[o,r,j] - max_r x[o,r,j]) - log sum_r e[r]
// logsumexp    y[o,j] = log sum_r e[r] + max_r x[o,r,j]
// Operands and their meaning are those of reference_kernels/cpu/softmax.h.
//
// Shapes       all extents >= 0, any strides; fast are x_reduced == y_reduced == 1, best aligned to
//              16 bytes, and x_inner == 1 with inner >= 8. A row of up to 4096 / sizeof(T) elements
//              is read once, a longer one three times. reduced = 0 gives logsumexp -Inf.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; everything in double for double, and
//              in float else. One rounding to T, to nearest even.
// Order        d = x - max, rounded; e = exp(d) of CUDA's library, at most 1 ulp off; the sum in
//              256 lanes: with V = 16 / sizeof(T), lane l adds the e[r] with r / V % 256 == l to
//              +0, one after the other; then lanes l and l + 128 are added, then l + 64, ..., l +
//              1. Then one division an element, or one logarithm a row (that of double, rounded)
//              and a subtraction an element.
// NaN, Inf     A NaN or +Inf in a row, or a row of -Inf only, makes the whole row the canonical NaN
//              of T. Any other -Inf gives +0, and -Inf for log_softmax. logsumexp is NaN for a NaN
//              only, else +Inf for a +Inf, -Inf for a row of -Inf.
// Invariant    The bits of a row of y are a function of that row of x, `reduced` and T alone: not
//              of outer, inner, strides, alignment, or of how many blocks run. -Inf appended to a
//              row changes no bit of what was there.
// Not claimed  The bits of reference_kernels/cpu/softmax.h.
// Source       max-shifted forms, https://doi.org/10.1093/imanum/draa038; the order is ours.
// Checked by   reference_kernels/cuda/softmax_test.cpp
template <class T>
void softmax(const cpu::SoftmaxArgs<T>& args, const Launch& launch);
template <class T>
void log_softmax(const cpu::SoftmaxArgs<T>& args, const Launch& launch);
template <class T>
void logsumexp(const cpu::SoftmaxArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

#pragma once

#include "reference_kernels/cpu/sum.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// y[o,j] = sum_r f(x[o,r,j]) / divisor, or its square root; f by `of`, r < R = slow * reduced.
// Operands and their meaning are those of reference_kernels/cpu/sum.h.
//
// Shapes       all extents >= 0; R = 0 sums to +0, multiplies to 1. Any strides; fast are
//              x_reduced == 1, best aligned to 16 bytes, and x_inner == 1 with inner >= 8.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; computed in double for double, else
//              in float. One rounding to T, to nearest even. NaN outputs are the canonical quiet
//              NaN of T.
// Order        Chunks of 8192 terms: chunk c has r = 8192 c, ..., 8192 c + 8191. In each, 256
//              lanes; with V = 16 / sizeof(T), lane l adds f of the r with r / V % 256 == l to +0,
//              one after the other. Then lanes l and l + 128 are added, then l + 64, ..., l + 1.
//              More than one chunk: their sums are added in the same order, as terms of type float
//              or double, without chunks. Squares are fused into the addition; x - m is rounded
//              before it is squared. m is the sum of the terms in this order, divided by R: two
//              passes. The sum is divided by `divisor` unless that is 1; then comes the root.
//              Factors are multiplied in this order, from 1.
// Invariant    The bits of y[o,j] are a function of the R values of its row, R, of, divisor, root
//              and T alone: not of outer, inner, strides, alignment, or of how many blocks run.
//              Zeros appended to the row change no bit of a sum of terms, sizes or squares.
// Not claimed  The bits of reference_kernels/cpu/sum.h, whose order has 16 lanes. Care for squares
//              that overflow.
// Memory       More than one chunk takes scratch for its sums: R / 8192 of them a row.
// Source       The order is ours; error bound gamma_(k) sum |f| with k < R (Higham 2002, 4.2); two
//              passes as in Chan, Golub, LeVeque, "Algorithms for computing the sample variance"
//              (1983).
// Checked by   reference_kernels/cuda/sum_test.cpp
template <class T>
void sum(const cpu::SumArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

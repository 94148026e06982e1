#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// What `sum` adds of each x: x, |x|, x * x or (x - m)^2, m being the mean of the row. kFactors are
/// multiplied instead, from 1.
enum class SumOf : std::uint8_t { kTerms, kSizes, kSquares, kDeviations, kFactors };

/// Operands of `sum`: x seen as [outer, slow, reduced, inner]. Strides count elements, may be 0 or
/// negative. The summed index is r = s * reduced + i for s < slow, i < reduced.
template <class T>
struct SumArgs {
  const T* x = nullptr;
  T* y = nullptr;  ///< [outer, inner] at y_outer, y_inner
  std::int64_t outer = 1, reduced = 0, inner = 1;
  std::int64_t x_outer = 0, x_reduced = 1, x_inner = 0;
  std::int64_t y_outer = 0, y_inner = 1;
  std::int64_t slow = 1, x_slow = 0;  ///< a second, slower reduced axis
  SumOf of = SumOf::kTerms;
  double divisor = 1;  ///< of the sum; the number of terms for a mean
  bool root = false;   ///< the square root of the quotient
  T* mean = nullptr;   ///< of kDeviations: where m goes, laid out as y; or null
};

// y[o,j] = sum_r f(x[o,r,j]) / divisor, or its square root; f by `of`, r < R = slow * reduced
//
// Shapes       all extents >= 0; R = 0 sums to +0, multiplies to 1. Any strides; fast are
//              x_reduced == 1 (adds along the vector) and x_inner == 1 (a vector of columns).
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; computed in double for double, else
//              in float. One rounding to T, to nearest even. NaN outputs are the canonical quiet
//              NaN of T.
// Order        16 lanes; lane l adds f of r = l, l + 16, l + 32, ... to +0, one after the other.
//              Then lanes l and l + 8 are added, then l + 4, l + 2, l + 1. Squares are fused into
//              the addition; x - m is rounded before it is squared. m is the sum of the terms in
//              this order, divided by R: two passes. The sum is divided by `divisor` unless that is
//              1; then comes the root. Factors are multiplied in this order, from 1.
// Invariant    The bits of y[o,j] are a function of the R values of its row, R, of, divisor, root
//              and T alone: not of outer, inner, strides, alignment or threads. Zeros appended to
//              the row change no bit of a sum of terms, sizes or squares. The same on AVX2 and
//              AVX-512; except for squares and deviations the same on every target.
// Not claimed  Parallelism within one output: a sum of everything runs on one thread. Squares:
//              equal bits on the baseline target (SSSE3: no fused multiply-add), nor any care for
//              their overflow.
// Threads      Below 131072 elements no task is handed to `parallel`.
// Source       The order is ours; error bound gamma_(R/16 + 4) sum |f| (Higham 2002, 4.2); two
//              passes as in Chan, Golub, LeVeque, "Algorithms for computing the sample variance"
//              (1983).
// Checked by   reference_kernels/cpu/sum_test.cpp, reference_kernels/cpu/sum_of_test.cpp
template <class T>
void sum(const SumArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

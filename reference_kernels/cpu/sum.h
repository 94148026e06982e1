#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

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
  bool mean = false;                  ///< divide the sum by the number of terms
};

// y[o,j] = sum_r x[o,r,j], or that sum / R when `mean`; R = slow * reduced
//
// Shapes       all extents >= 0; R = 0 gives +0, and NaN when `mean`. Any strides; fast are
//              x_reduced == 1 (adds along the vector) and x_inner == 1 (a vector of columns).
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; sums in double for double, else
// float.
//              One rounding to T, to nearest even. NaN outputs are the canonical quiet NaN of T.
// Order        16 lanes; lane l adds r = l, l + 16, l + 32, ... to +0, one after the other. Then
// lanes
//              l and l + 8 are added, then l + 4, l + 2, l + 1. `mean` then divides by R.
// Invariant    The bits of y[o,j] are a function of the R values of its row, R and T alone: not of
// outer,
//              inner, strides, alignment or threads. Zeros appended to the row change no bit (of
//              the sum). The same on every target: there are only additions.
// Not claimed  Parallelism within one output: a sum of everything runs on one thread.
// Threads      Below 32768 elements no task is handed to `parallel`.
// Source       The order is ours; error bound gamma_(R/16 + 4) sum |x| (Higham 2002, 4.2).
// Checked by   reference_kernels/cpu/sum_test.cpp
template <class T>
void sum(const SumArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

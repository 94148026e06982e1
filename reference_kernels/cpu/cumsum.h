#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Operands of `cumsum`: x and y seen as [outer, reduced, inner]. Strides count elements. y may be
/// x, with the same strides.
template <class T>
struct CumsumArgs {
  const T* x = nullptr;
  T* y = nullptr;
  std::int64_t outer = 1, reduced = 0, inner = 1;
  std::int64_t x_outer = 0, x_reduced = 1, x_inner = 0;
  std::int64_t y_outer = 0, y_reduced = 1, y_inner = 0;
};

// y[o,i,j] = x[o,0,j] + ... + x[o,i,j]
//
// Shapes       all extents >= 0, any strides; fast are x_reduced == y_reduced == 1 and
//              x_inner == y_inner == 1 (a vector of columns).
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; sums in double for float and double,
//              else in float: a running sum waits for each addition, which takes no longer in
//              double. Each output is that sum rounded to T once, to nearest even. NaN outputs are
//              the canonical quiet NaN of T.
// Order        i = 0, 1, 2, ... are added to +0, one after the other.
// Invariant    The bits of y[o,i,j] are a function of x[o,0..i,j] and T alone: not of what follows,
//              outer, reduced, inner, strides, alignment, threads or target.
// Not claimed  Parallelism within one row.
// Threads      Below 131072 elements no task is handed to `parallel`.
// Source       The obvious order; error bound gamma_i sum |x| (Higham 2002, 4.2).
// Checked by   reference_kernels/cpu/cumsum_test.cpp
template <class T>
void cumsum(const CumsumArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

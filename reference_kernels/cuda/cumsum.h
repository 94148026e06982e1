#pragma once

#include "reference_kernels/cpu/cumsum.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// y[o,i,j] = x[o,0,j] + ... + x[o,i,j]
// Operands and their meaning are those of reference_kernels/cpu/cumsum.h.
//
// Shapes       all extents >= 0, any strides; fast are x_reduced == y_reduced == 1, best aligned to
//              16 bytes, and x_inner == y_inner == 1 with inner >= 8 and many columns.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; sums in double for float and double,
//              else in float. Each output is that sum rounded to T once, to nearest even. NaN
//              outputs are the canonical quiet NaN of T.
// Order        Tiles of 2048 elements. In a tile, for its element p: t = x; for d = 0, 1, ..., 10,
//              where bit d of p is set, t = s + t, s being the sum of the 2^d elements that end
//              where the aligned 2^d elements of p begin; s itself is the t of its last element
//              after bits below d. Then y = c + t, where c is +0 in the first tile and c + the t of
//              the last element of the tile before in the next ones.
// Invariant    The bits of y[o,i,j] are a function of x[o,0..i,j] and T alone: not of what follows,
//              outer, reduced, inner, strides, alignment, or of how many blocks run.
// Not claimed  The bits of reference_kernels/cpu/cumsum.h.
// Memory       Long rows, if they are few, take scratch for the sums of their tiles.
// Source       Sklansky's prefix sum, https://doi.org/10.1109/TEC.1960.5219822; error bound
//              gamma_k sum |x|, k <= 11 + i / 2048 (Higham 2002, 4.2).
// Checked by   reference_kernels/cuda/cumsum_test.cpp
template <class T>
void cumsum(const cpu::CumsumArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

#pragma once

#include <cstdint>

#include "reference_kernels/cuda/lanes.cuh"

// Vectors of a contiguous row, of which the last may be short.

namespace bic::cuda {

/// Elements i, i + 1, ... of a row of n; zeros beyond it. i is a multiple of their number: an
/// aligned row is read in one access.
template <class E>
__device__ Vector<E> read_vector(const E* row, std::int64_t i, std::int64_t n) {
  if (i + kVector<E> <= n && is_aligned(row)) return *reinterpret_cast<const Vector<E>*>(row + i);
  Vector<E> v;
#pragma unroll
  for (int k = 0; k < kVector<E>; ++k) v.e[k] = i + k < n ? row[i + k] : E(0.0f);
  return v;
}

/// The elements to their places in the row; none beyond it.
template <class E>
__device__ void write_vector(const Vector<E>& v, E* row, std::int64_t i, std::int64_t n) {
  if (i + kVector<E> <= n && is_aligned(row)) {
    *reinterpret_cast<Vector<E>*>(row + i) = v;
    return;
  }
#pragma unroll
  for (int k = 0; k < kVector<E>; ++k) {
    if (i + k < n) row[i + k] = v.e[k];
  }
}

}  // namespace bic::cuda

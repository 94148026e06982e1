#pragma once

#include <cstdint>
#include <cstring>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cuda/gemm_finish.cuh"

// From the sums of wgmma, as threads have them, to y. A thread's sums 8 g, ..., 8 g + 7 lie in 16
// columns: 0, 1, 4, 5 of them in row i, columns j, j + 1, j + 8, j + 9, the others 8 rows below.

namespace bic::cuda {

/// Of the first element of a CTA's tile, or of a thread's sums.
struct WgmmaPlace {
  int row, column;
};

/// Of the first of this thread's sums in the tile at `at`.
__device__ inline WgmmaPlace first_sum(const WgmmaPlace& at) {
  const int thread = static_cast<int>(threadIdx.x);
  return {at.row + thread / 32 * 16 + thread % 32 / 4, at.column + thread % 4 * 2};
}

/// Whether the way that writes four neighbours at once is open: those of a row of y, whose first is
/// in a column that 4 divides, lie in one word, and bias, if any, is one row in pairs.
template <class E>
__device__ inline bool writes_fours(const cpu::GemmArgs<E>& g) {
  const bool pairs = g.bias == nullptr || (g.bias_row == 0 && g.bias_n == 1 &&
                                           reinterpret_cast<std::uintptr_t>(g.bias) % 4 == 0);
  return pairs && g.n % 4 == 0 && g.y_row % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(g.y) % 8 == 0;
}

/// Bias of columns j and j + 1, which are both there or neither.
template <class E>
__device__ __forceinline__ unsigned bias_pair(const cpu::GemmArgs<E>& g, int j) {
  if (g.bias == nullptr || j >= g.n) return 0;
  return *reinterpret_cast<const unsigned*>(g.bias + j);
}

template <class E>
__device__ __forceinline__ unsigned finish_pair(const cpu::GemmArgs<E>& g,
                                                const float* sums,
                                                unsigned bias_bits) {
  E bias[2], pair[2];
  memcpy(bias, &bias_bits, sizeof bias);
  round_product(pair[0], scaled(g, sums[0], bias[0]));
  round_product(pair[1], scaled(g, sums[1], bias[1]));
  unsigned bits;
  memcpy(&bits, pair, sizeof bits);
  return bits;
}

/// Sums 0, 1, 4, 5 to row i. Of two lanes side by side, which have four neighbours twice, each
/// stores four. A warp calls it together.
template <class E>
__device__ __forceinline__ void write_fours(
    const cpu::GemmArgs<E>& g, int i, int j, const float* sums, const unsigned* bias) {
  const bool odd = threadIdx.x % 2 != 0;
  const unsigned left = finish_pair(g, sums, bias[0]), right = finish_pair(g, sums + 4, bias[1]);
  const unsigned other = __shfl_xor_sync(0xffffffffU, odd ? left : right, 1);
  const int column = odd ? j + 6 : j;
  if (i >= g.m || column >= g.n) return;
  *reinterpret_cast<uint2*>(g.y + i * g.y_row + column) =
      odd ? make_uint2(other, right) : make_uint2(left, other);
}

/// A thread's kSums sums, from its first group on, to y.
template <int kSums, class E>
__device__ __forceinline__ void write_sums(const cpu::GemmArgs<E>& g,
                                           const WgmmaPlace& first,
                                           const float (&sums)[kSums]) {
  if (writes_fours(g)) {
    unsigned bias[kSums / 4];  // loaded together: each alone would be waited for
#pragma unroll
    for (int i = 0; i < kSums / 4; ++i) bias[i] = bias_pair(g, first.column + i * 8);
#pragma unroll
    for (int group = 0; group < kSums / 8; ++group) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        write_fours(g,
                    first.row + half * 8,
                    first.column + group * 16,
                    sums + group * 8 + half * 2,
                    bias + group * 2);
      }
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    finish(g, 0, first.row + i % 4 / 2 * 8, first.column + i / 4 * 8 + i % 2, sums[i]);
  }
}

}  // namespace bic::cuda

#pragma once

#include <cuda_pipeline.h>

#include <cstdint>

#include "reference_kernels/cuda/attention_rows.cuh"

// Queries, keys and values of a block in shared memory, for the tensor cores.

namespace bic::cuda {

constexpr int kTensorRows = 64, kTensorThreads = 128, kMostColumns = 256;

/// Which operands can be read 16 bytes at a time.
struct Aligned {
  bool q, k, v;
};

template <class T>
bool is_aligned(const T* p, const cpu::HeadStrides& at) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && at.column == 1 &&
         (at.batch | at.head | at.row) % 8 == 0;
}

/// Shared memory. Rows of `depth` and `width` elements: an odd number of 16 bytes, so that 8 rows
/// meet all banks.
template <class E>
struct TensorTiles {
  static constexpr int kWeightsRow = kBlockKeys + 8;
  int depth, width;

  __host__ __device__ TensorTiles(std::int64_t e, std::int64_t ev)
      : depth(row_of(e)), width(row_of(ev)) {}
  __host__ __device__ static int row_of(std::int64_t columns) {
    return static_cast<int>(columns + 15) / 16 * 16 + 8;
  }
  __host__ __device__ int elements() const {
    return (kTensorRows + kBlockKeys) * depth + kBlockKeys * width + kTensorRows * kWeightsRow;
  }
  __device__ static E* memory() {
    extern __shared__ uint4 bytes[];
    return reinterpret_cast<E*>(bytes);
  }
  __device__ E* q() const { return memory(); }
  __device__ E* k() const { return q() + kTensorRows * depth; }
  __device__ E* v() const { return k() + kBlockKeys * depth; }
  __device__ E* weights() const { return v() + kBlockKeys * width; }
};

/// 64 rows of `columns` elements to `to`, zeros beside them and in place of rows from `count` on.
/// start(r) is where row r begins.
template <class E, class Start>
__device__ void copy_tile(E* to,
                          int row,
                          int columns,
                          std::int64_t count,
                          bool aligned,
                          std::int64_t column,
                          Start start) {
  const int vectors = row / 8 - 1;
  for (int i = static_cast<int>(threadIdx.x); i < 64 * vectors; i += kTensorThreads) {
    const int r = i / vectors, c = i % vectors * 8;
    E* vector = to + r * row + c;
    if (r >= count || c >= columns) {
      *reinterpret_cast<uint4*>(vector) = {};
    } else if (aligned) {
      __pipeline_memcpy_async(vector, start(r) + c, 16);
    } else {
      const E* from = start(r) + c * column;
      for (int j = 0; j < 8; ++j) vector[j] = from[j * column];
    }
  }
}

}  // namespace bic::cuda

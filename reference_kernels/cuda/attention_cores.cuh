#pragma once

#include "reference_kernels/cuda/attention_rows.cuh"

// Attention by fused multiply-adds: any e and ev, any type.

namespace bic::cuda {

constexpr int kCoreRows = 32, kCoreColumns = 128, kCoreThreads = 128;
constexpr int kCoreDepth = 16;  ///< of e, and keys, in shared memory at a time

/// What one thread reads at once.
template <class A>
struct alignas(4 * sizeof(A)) Four {
  A at[4];
};

/// Transposed, so that neighbours are what one thread multiplies; padded against bank conflicts.
template <class A>
struct CoreTiles {
  Four<A> q[kCoreDepth][kCoreRows / 4 + 1], k[kCoreDepth][kBlockKeys / 4 + 1];
  Four<A> weights[kBlockKeys][kCoreRows / 4 + 1], v[kCoreDepth][kCoreColumns / 4];
};

/// Takes a block's maximum into `most`; what the sums so far are to be multiplied by. That is 1
/// after a block of which the row sees nothing.
template <class A>
__device__ A raise(A& most, A of_block) {
  const A before = most;
  most = fmax(before, of_block);
  return exp(before - subtrahend(most));
}

/// 0 times NaN or Inf is 0 here: weights so far below the maximum that they are 0.
template <class A>
__device__ A rescaled(A sum, A factor) {
  return factor == 0 ? A(0) : sum * factor;
}

/// A thread's share: rows 4 y ... 4 y + 3 with keys 4 x ... 4 x + 3 of a block, and with columns
/// 4 x ... 4 x + 3 and 64 further on.
template <class T>
struct CoreBlock {
  using E = Element<T>;
  using A = Accumulator<E>;
  const cpu::AttentionArgs<T>& g;
  CoreTiles<A>& tiles;
  RowBlock rows;
  std::int64_t column;  ///< the block's first
  int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
  Sight sights[4];
  A most[4], weights[4], sums[4][2][4];
  std::int64_t q_start[4];  ///< of the rows that this thread copies

  __device__ void clear();
  __device__ void copy_queries_and_keys(std::int64_t key, std::int64_t first);
  __device__ void dots(std::int64_t key, A (&dot)[4][4]);
  __device__ void weigh(std::int64_t key, A (&z)[4][4]);
  __device__ void copy_values(std::int64_t key);
  __device__ void add_values(std::int64_t key, std::int64_t end);
  __device__ void store_rows();
};

template <class T>
__device__ void CoreBlock<T>::clear() {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sights[i] = sight_of(g, rows, 4 * y + i);
    most[i] = -INFINITY;
    weights[i] = 0;
#pragma unroll
    for (int c = 0; c < 8; ++c) sums[i][c / 4][c % 4] = 0;
    q_start[i] = row_start(g, rows, g.q_at, y + 8 * i);
  }
}

/// Columns first ... first + 15 of the block's queries and of 64 keys, zeros beside them.
template <class T>
__device__ void CoreBlock<T>::copy_queries_and_keys(std::int64_t key, std::int64_t first) {
  const E* q = reinterpret_cast<const E*>(g.q);
  const E* k =
      reinterpret_cast<const E*>(g.k) + rows.batch * g.k_at.batch + rows.key_head * g.k_at.head;
  const std::int64_t c = first + x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int r = y + 8 * i;
    const bool is_there = c < g.e && rows.first + r < rows_of(g);
    tiles.q[x][r / 4].at[r % 4] = is_there ? load(q[q_start[i] + c * g.q_at.column]) : A(0);
  }
#pragma unroll 4
  for (int i = 0; i < 8; ++i) {
    const int r = y + 8 * i;
    const bool is_there = c < g.e && key + r < g.s;
    tiles.k[x][r / 4].at[r % 4] =
        is_there ? load(k[(key + r) * g.k_at.row + c * g.k_at.column]) : A(0);
  }
}

/// Order: one chain over e = 0, 1, ...
template <class T>
__device__ void CoreBlock<T>::dots(std::int64_t key, A (&dot)[4][4]) {
#pragma unroll
  for (int i = 0; i < 16; ++i) dot[i / 4][i % 4] = 0;
  for (std::int64_t first = 0; first < g.e; first += kCoreDepth) {
    __syncthreads();
    copy_queries_and_keys(key, first);
    __syncthreads();
#pragma unroll 4
    for (int c = 0; c < kCoreDepth; ++c) {
      const Four<A> a = tiles.q[c][y], b = tiles.k[c][x];
#pragma unroll
      for (int i = 0; i < 16; ++i)
        dot[i / 4][i % 4] = fma(a.at[i / 4], b.at[i % 4], dot[i / 4][i % 4]);
    }
  }
}

/// Dots to weights, in shared memory too; raises the maximum and rescales what there is.
template <class T>
__device__ void CoreBlock<T>::weigh(std::int64_t key, A (&z)[4][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    A top = -INFINITY;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      z[i][j] = logit(g, sights[i], key + 4 * x + j, z[i][j]);
      top = fmax(top, z[i][j]);
    }
#pragma unroll
    for (int lanes = 8; lanes > 0; lanes /= 2) {
      top = fmax(top, __shfl_xor_sync(0xFFFFFFFF, top, lanes));
    }
    const A factor = raise(most[i], top), base = subtrahend(most[i]);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      z[i][j] = exp(z[i][j] - base);
      weights[i] = j == 0 ? fma(weights[i], factor, z[i][j]) : weights[i] + z[i][j];
    }
#pragma unroll
    for (int c = 0; c < 8; ++c) sums[i][c / 4][c % 4] = rescaled(sums[i][c / 4][c % 4], factor);
  }
  __syncthreads();  // the weights before have been read
#pragma unroll
  for (int j = 0; j < 4; ++j) tiles.weights[4 * x + j][y] = {z[0][j], z[1][j], z[2][j], z[3][j]};
}

/// The block's columns of 16 values, zeros beside them.
template <class T>
__device__ void CoreBlock<T>::copy_values(std::int64_t key) {
  const E* v =
      reinterpret_cast<const E*>(g.v) + rows.batch * g.v_at.batch + rows.key_head * g.v_at.head;
  const int c = static_cast<int>(threadIdx.x);
#pragma unroll 4
  for (int i = 0; i < kCoreDepth; ++i) {
    const bool is_there = key + i < g.s && column + c < g.ev;
    tiles.v[i][c / 4].at[c % 4] =
        is_there ? load(v[(key + i) * g.v_at.row + (column + c) * g.v_at.column]) : A(0);
  }
}

/// Order: one chain over the keys, those of weight 0 passed over.
template <class T>
__device__ void CoreBlock<T>::add_values(std::int64_t key, std::int64_t end) {
  for (std::int64_t first = key; first < end; first += kCoreDepth) {
    __syncthreads();
    copy_values(first);
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kCoreDepth; ++k) {
      const Four<A> w = tiles.weights[first - key + k][y];
      const Four<A> v[2] = {tiles.v[k][x], tiles.v[k][16 + x]};
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        A& sum = sums[i / 8][i / 4 % 2][i % 4];
        if (w.at[i / 8] != 0) sum = fma(w.at[i / 8], v[i / 4 % 2].at[i % 4], sum);
      }
    }
  }
}

/// Order of the weights: 16 lanes, x with x + 8, then 4, 2, 1 further on.
template <class T>
__device__ void CoreBlock<T>::store_rows() {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    A all = weights[i];
#pragma unroll
    for (int lanes = 8; lanes > 0; lanes /= 2) all += __shfl_xor_sync(0xFFFFFFFF, all, lanes);
    if (rows.first + 4 * y + i >= rows_of(g)) continue;
    E* row = reinterpret_cast<E*>(g.y) + row_start(g, rows, g.y_at, 4 * y + i);
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const std::int64_t at = column + 64 * (c / 4) + 4 * x + c % 4;
      if (at < g.ev) store_quotient(row[at], sums[i][c / 4][c % 4], all);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kCoreThreads, sizeof(T) == 4 ? 3 : 2)
    attention_by_cores(const cpu::AttentionArgs<T> g, std::int64_t columns, std::int64_t items) {
  using A = Accumulator<Element<T>>;
  __shared__ CoreTiles<A> tiles;
  for (std::int64_t i = blockIdx.x; i < items; i += gridDim.x) {
    CoreBlock<T> block{g, tiles, row_block(g, i / columns, kCoreRows), i % columns * kCoreColumns};
    block.clear();
    const std::int64_t keys = most_keys(g, block.rows, kCoreRows);
    for (std::int64_t key = 0; key < keys; key += kBlockKeys) {
      A dots[4][4];
      block.dots(key, dots);
      block.weigh(key, dots);
      block.add_values(key, min(keys, key + kBlockKeys));
    }
    block.store_rows();
  }
}

template <class T>
void launch_cores(const cpu::AttentionArgs<T>& g, const Launch& launch) {
  const std::int64_t columns = (g.ev + kCoreColumns - 1) / kCoreColumns;
  const std::int64_t blocks = (rows_of(g) + kCoreRows - 1) / kCoreRows;
  const std::int64_t items = g.batch * g.key_heads * blocks * columns;
  attention_by_cores<T><<<grid_of(items), kCoreThreads, 0, launch.stream>>>(g, columns, items);
  check_launch("attention");
}

}  // namespace bic::cuda

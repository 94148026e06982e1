#pragma once

#include "reference_kernels/cuda/attention_mma.cuh"
#include "reference_kernels/cuda/attention_rows.cuh"
#include "reference_kernels/cuda/attention_tiles.cuh"

// Attention on tensor cores: bf16 and fp16, e and ev multiples of 8 up to 256.

namespace bic::cuda {

/// A warp's 16 rows, of which a thread has g and g + 8, g = lane / 4, and of each 8 keys or columns
/// 2 t and 2 t + 1, t = lane % 4: the accumulators of an mma.
template <class T, int kColumns>
struct TensorBlock {
  using E = Element<T>;
  const cpu::AttentionArgs<T>& g;
  const Aligned aligned;
  TensorTiles<E> tiles;
  RowBlock rows;
  int lane = static_cast<int>(threadIdx.x) % 32, warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  Sight sights[2];
  float most[2], weights[2], sums[kColumns / 8][4];

  __device__ int row(int half) const { return warp_row + lane / 4 + 8 * half; }
  __device__ void clear();
  __device__ void copy_queries();
  __device__ void copy_keys(std::int64_t key, std::int64_t end);
  __device__ void copy_values(std::int64_t key, std::int64_t end);
  __device__ void dots(float (&dot)[kBlockKeys / 8][4]);
  __device__ void look(std::int64_t key, float (&z)[kBlockKeys / 8][4]);
  __device__ void find_most();
  __device__ void weigh(float (&z)[kBlockKeys / 8][4]);
  __device__ void add_values(const float (&w)[kBlockKeys / 8][4], bool careful);
  __device__ void add_odd_values(const unsigned (&w)[kBlockKeys / 16][4]);
  __device__ void add_blocks(bool careful);
  __device__ bool is_odd() const;
  __device__ void store_rows();
};

template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::clear() {
  weights[0] = weights[1] = 0;
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) sums[i / 4][i % 4] = 0;
}

template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::copy_queries() {
  const E* q = reinterpret_cast<const E*>(g.q);
  copy_tile(
      tiles.q(), tiles.depth, g.e, rows_of(g) - rows.first, aligned.q, g.q_at.column, [&](int r) {
        return q + row_start(g, rows, g.q_at, r);
      });
}

template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::copy_keys(std::int64_t key, std::int64_t end) {
  if (key < end) {
    const E* k = reinterpret_cast<const E*>(g.k) + rows.batch * g.k_at.batch +
                 rows.key_head * g.k_at.head + key * g.k_at.row;
    copy_tile(tiles.k(), tiles.depth, g.e, g.s - key, aligned.k, g.k_at.column, [&](int r) {
      return k + r * g.k_at.row;
    });
  }
  __pipeline_commit();
}

template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::copy_values(std::int64_t key, std::int64_t end) {
  if (key < end) {
    const E* v = reinterpret_cast<const E*>(g.v) + rows.batch * g.v_at.batch +
                 rows.key_head * g.v_at.head + key * g.v_at.row;
    copy_tile(tiles.v(), tiles.width, g.ev, g.s - key, aligned.v, g.v_at.column, [&](int r) {
      return v + r * g.v_at.row;
    });
  }
  __pipeline_commit();
}

/// Order: 16 of e at a time, one mma after the other.
template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::dots(float (&dot)[kBlockKeys / 8][4]) {
#pragma unroll
  for (int i = 0; i < kBlockKeys / 2; ++i) dot[i / 4][i % 4] = 0;
  const E* q = tiles.q() + (warp_row + lane % 16) * tiles.depth + lane / 16 * 8;
  const E* k = tiles.k() + (lane / 16 * 8 + lane % 8) * tiles.depth + lane / 8 % 2 * 8;
  for (int c = 0; c < g.e; c += 16) {
    unsigned a[4], b[4];
    load_matrices(a, q + c);
#pragma unroll
    for (int n = 0; n < kBlockKeys / 16; ++n) {
      load_matrices(b, k + n * 16 * tiles.depth + c);
      mma<E>(dot[2 * n], a, b);
      mma<E>(dot[2 * n + 1], a, b + 2);
    }
  }
}

/// Dots to z.
template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::look(std::int64_t key, float (&z)[kBlockKeys / 8][4]) {
#pragma unroll
  for (int i = 0; i < kBlockKeys / 2; ++i) {
    const std::int64_t j = key + i / 4 * 8 + lane % 4 * 2 + i % 2;
    z[i / 4][i % 4] = logit(g, sights[i / 2 % 2], j, z[i / 4][i % 4]);
  }
}

/// Copies the queries and takes the maximum of each row, before any weight is made: rounded to T,
/// one relative to a maximum so far would be another.
template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::find_most() {
  const std::int64_t end = most_keys(g, rows, kTensorRows);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    sights[h] = sight_of(g, rows, row(h));
    most[h] = -INFINITY;
  }
  copy_queries();
  copy_keys(0, end);
  for (std::int64_t key = 0; key < end; key += kBlockKeys) {
    float z[kBlockKeys / 8][4];
    __pipeline_wait_prior(0);
    __syncthreads();
    dots(z);
    __syncthreads();
    copy_keys(key + kBlockKeys, end);
    look(key, z);
#pragma unroll
    for (int i = 0; i < kBlockKeys / 2; ++i) {
      most[i / 2 % 2] = fmaxf(most[i / 2 % 2], z[i / 4][i % 4]);
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    most[h] = fmaxf(most[h], __shfl_xor_sync(0xFFFFFFFF, most[h], 1));
    most[h] = fmaxf(most[h], __shfl_xor_sync(0xFFFFFFFF, most[h], 2));
  }
}

/// z to weights.
template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::weigh(float (&z)[kBlockKeys / 8][4]) {
  const float base[2] = {subtrahend(most[0]), subtrahend(most[1])};
#pragma unroll
  for (int i = 0; i < kBlockKeys / 2; ++i) {
    float& x = z[i / 4][i % 4];
    x = expf(x - base[i / 2 % 2]);
    weights[i / 2 % 2] += x;
  }
}

/// Order: 16 keys at a time, one mma after the other, the weights rounded to T.
template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::add_values(const float (&w)[kBlockKeys / 8][4],
                                                     bool careful) {
  unsigned a[kBlockKeys / 16][4], b[4];
#pragma unroll
  for (int i = 0; i < kBlockKeys / 4; ++i) {
    a[i / 4][i % 4] = pack<E>(w[i / 2][i % 2 * 2], w[i / 2][i % 2 * 2 + 1]);
  }
  if (careful) add_odd_values(a);
  const E* v = tiles.v() + lane % 16 * tiles.width + lane / 16 * 8;
#pragma unroll
  for (int n = 0; n < kColumns / 16; ++n) {
    if (n * 16 >= g.ev) break;
#pragma unroll
    for (int k = 0; k < kBlockKeys / 16; ++k) {
      load_transposed(b, v + k * 16 * tiles.width + n * 16);
      mma<E>(sums[2 * n], a[k], b);
      mma<E>(sums[2 * n + 1], a[k], b + 2);
    }
  }
}

/// Adds the values that are NaN or Inf where their weight is not 0, and puts 0 in their place: the
/// tensor cores would make NaN of 0 times Inf.
template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::add_odd_values(const unsigned (&w)[kBlockKeys / 16][4]) {
  constexpr int kRow = TensorTiles<E>::kWeightsRow;
  E* mine = tiles.weights() + row(0) * kRow;
#pragma unroll
  for (int i = 0; i < kBlockKeys / 4; ++i) {
    E* pair = mine + i % 2 * 8 * kRow + i / 2 * 8 + lane % 4 * 2;
    *reinterpret_cast<unsigned*>(pair) = w[i / 4][i % 4];
  }
  __syncwarp();
  for (int k = 0; k < kBlockKeys; ++k) {
    const float weight[2] = {load(mine[k]), load(mine[8 * kRow + k])};
    const E* v = tiles.v() + k * tiles.width + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) {
      if (i / 4 * 8 >= g.ev) break;
      const float value = load(v[i / 4 * 8 + i % 2]);
      if (!isfinite(value) && weight[i / 2 % 2] != 0)
        sums[i / 4][i % 4] += weight[i / 2 % 2] * value;
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kBlockKeys * tiles.width; i += kTensorThreads) {
    if (!isfinite(load(tiles.v()[i]))) tiles.v()[i] = E(0.0F);
  }
  __syncthreads();
}

/// All keys, block by block. The next keys are on their way while values are added, the next values
/// while keys are multiplied.
template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::add_blocks(bool careful) {
  const std::int64_t end = most_keys(g, rows, kTensorRows);
  copy_keys(0, end);
  copy_values(0, end);
  for (std::int64_t key = 0; key < end; key += kBlockKeys) {
    float z[kBlockKeys / 8][4];
    __pipeline_wait_prior(1);
    __syncthreads();
    dots(z);
    __syncthreads();
    copy_keys(key + kBlockKeys, end);
    look(key, z);
    weigh(z);
    __pipeline_wait_prior(1);
    __syncthreads();
    add_values(z, careful);
    __syncthreads();
    copy_values(key + kBlockKeys, end);
  }
  __pipeline_wait_prior(0);
}

template <class T, int kColumns>
__device__ bool TensorBlock<T, kColumns>::is_odd() const {
  bool odd = false;
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) odd = odd || !isfinite(sums[i / 4][i % 4]);
  return odd;
}

/// Order of the weights: t with t + 1, then the pairs.
template <class T, int kColumns>
__device__ void TensorBlock<T, kColumns>::store_rows() {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    weights[h] += __shfl_xor_sync(0xFFFFFFFF, weights[h], 1);
    weights[h] += __shfl_xor_sync(0xFFFFFFFF, weights[h], 2);
    if (rows.first + row(h) >= rows_of(g)) continue;
    E* y = reinterpret_cast<E*>(g.y) + row_start(g, rows, g.y_at, row(h)) + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kColumns / 4; ++i) {
      if (i / 2 * 8 >= g.ev) break;
      store_quotient(y[i / 2 * 8 + i % 2], sums[i / 2][2 * h + i % 2], weights[h]);
    }
  }
}

template <class T, int kColumns>
__global__ void __launch_bounds__(kTensorThreads)
    attention_by_tensor_cores(const cpu::AttentionArgs<T> g, Aligned aligned, std::int64_t items) {
  for (std::int64_t i = blockIdx.x; i < items; i += gridDim.x) {
    TensorBlock<T, kColumns> block{g, aligned, {g.e, g.ev}, row_block(g, i, kTensorRows)};
    block.find_most();
    bool careful = false;
    do {
      block.clear();
      block.add_blocks(careful);
      careful = !careful && __syncthreads_or(block.is_odd());
    } while (careful);
    block.store_rows();
  }
}

template <class T, int kColumns>
void launch_tensor(const cpu::AttentionArgs<T>& g, const Launch& launch) {
  const std::int64_t blocks = (rows_of(g) + kTensorRows - 1) / kTensorRows;
  const std::int64_t items = g.batch * g.key_heads * blocks;
  const Aligned aligned{is_aligned(g.q, g.q_at), is_aligned(g.k, g.k_at), is_aligned(g.v, g.v_at)};
  const int bytes = TensorTiles<Element<T>>(g.e, g.ev).elements() * 2;
  const auto kernel = attention_by_tensor_cores<T, kColumns>;
  // The most that any call needs: the attribute is the kernel's, and other threads launch it too.
  cudaFuncSetAttribute(kernel,
                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                       TensorTiles<Element<T>>(kMostColumns, kColumns).elements() * 2);
  kernel<<<grid_of(items), kTensorThreads, bytes, launch.stream>>>(g, aligned, items);
  check_launch("attention");
}

/// A matter of T, e and ev alone.
template <class T>
bool takes_tensor_cores(const cpu::AttentionArgs<T>& g) {
  const auto fits = [](std::int64_t n) { return n > 0 && n % 8 == 0 && n <= kMostColumns; };
  return sizeof(T) == 2 && fits(g.e) && fits(g.ev);
}

}  // namespace bic::cuda

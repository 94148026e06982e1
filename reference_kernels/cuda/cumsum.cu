#include "reference_kernels/cuda/cumsum.h"
#include "reference_kernels/cuda/lanes.cuh"
#include "reference_kernels/cuda/rounded.cuh"

namespace bic::cuda {
namespace {

/// Type of the running sums.
template <class E>
using Running = std::conditional_t<sizeof(E) == 2, float, double>;

/// Elements of a thread in a tile: bits 0, 1, 2 of their place in it.
constexpr int kRun = 8;
/// Part of the order: changing it changes the bits.
constexpr int kTile = kBlock * kRun;

template <class E>
struct Plan {
  const E* x;
  E* y;
  Running<E>* tiles;  ///< [rows][count], or null
  std::int64_t rows, inner, n, count;
  std::int64_t x_outer, x_reduced, x_inner, y_outer, y_reduced, y_inner;

  __device__ const E* row(std::int64_t i) const {
    return x + i / inner * x_outer + i % inner * x_inner;
  }
  __device__ E* result(std::int64_t i) const {
    return y + i / inner * y_outer + i % inner * y_inner;
  }
};

/// Terms of the vector that begins at r, none beyond the end.
template <class E>
__device__ int vector_terms(std::int64_t r, std::int64_t n) {
  return r < n ? terms_left<E>(r, n) : 0;
}

/// v[k] = x[(r + k) * stride], 0 from n on.
template <class E>
__device__ void load_run(
    const E* x, std::int64_t stride, std::int64_t r, std::int64_t n, Running<E> (&v)[kRun]) {
#pragma unroll
  for (int k = 0; k < kRun; k += kVector<E>) {
    Accumulator<E> some[kVector<E>] = {};
    load_terms(x + (r + k) * stride, stride, vector_terms<E>(r + k, n), some);
#pragma unroll
    for (int i = 0; i < kVector<E>; ++i) v[k + i] = some[i];
  }
}

/// y[(r + k) * stride] = carry + v[k]
template <class E>
__device__ void store_run(const Running<E> (&v)[kRun],
                          Running<E> carry,
                          std::int64_t stride,
                          std::int64_t r,
                          std::int64_t n,
                          E* y) {
#pragma unroll
  for (int k = 0; k < kRun; k += kVector<E>) {
    Accumulator<E> some[kVector<E>];
#pragma unroll
    for (int i = 0; i < kVector<E>; ++i) {
      some[i] = static_cast<Accumulator<E>>(add(carry, v[k + i]));
    }
    store_terms<E>(some, stride, vector_terms<E>(r + k, n), y + (r + k) * stride);
  }
}

/// Bits 0, 1, 2 of the order.
template <class R>
__device__ void scan_run(R (&v)[kRun]) {
#pragma unroll
  for (int d = 0; d < 3; ++d) {
#pragma unroll
    for (int k = 0; k < kRun; ++k) {
      if (k >> d & 1) v[k] = add(v[(k >> d << d) - 1], v[k]);
    }
  }
}

/// v = sum + v: one bit of the order, for the runs where it is set.
template <class R>
__device__ void add_before(R sum, R (&v)[kRun]) {
#pragma unroll
  for (int k = 0; k < kRun; ++k) v[k] = add(sum, v[k]);
}

/// Bits 3 to 7, which are those of the thread in its warp.
template <class R>
__device__ void scan_warp(R (&v)[kRun]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int d = 0; d < 5; ++d) {
    const int before = (lane >> d << d) - 1;
    const R sum = __shfl_sync(~0u, v[kRun - 1], before < 0 ? 0 : before);
    if (lane >> d & 1) add_before(sum, v);
  }
}

/// Bits 8, 9, 10, which are those of the warp; returns the sum of the tile to all threads.
template <class R>
__device__ R scan_block(R (&v)[kRun], R* warps) {
  const int w = threadIdx.x / 32;
  if (threadIdx.x % 32 == 31) warps[w] = v[kRun - 1];
  __syncthreads();
  const R low = add(add(warps[0], warps[1]), add(warps[2], warps[3]));
  const R high = add(add(warps[4], warps[5]), add(warps[6], warps[7]));
  if (w & 1) add_before(warps[w - 1], v);
  if (w & 2) add_before(add(warps[w & 4], warps[(w & 4) + 1]), v);
  if (w & 4) add_before(low, v);
  __syncthreads();
  return add(low, high);
}

/// A warp to a row that is no longer than its runs.
template <class E>
__global__ __launch_bounds__(kBlock) void scan_short_rows(Plan<E> p) {
  constexpr int kEach = kBlock / 32;
  const std::int64_t r = threadIdx.x % 32 * kRun;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kEach + threadIdx.x / 32;
  for (std::int64_t i = first; i < p.rows; i += static_cast<std::int64_t>(gridDim.x) * kEach) {
    Running<E> v[kRun];
    load_run(p.row(i), p.x_reduced, r, p.n, v);
    scan_run(v);
    scan_warp(v);
    store_run(v, Running<E>(0), p.y_reduced, r, p.n, p.result(i));
  }
}

/// A block to a row, tile after tile.
template <class E>
__global__ __launch_bounds__(kBlock) void scan_rows(Plan<E> p) {
  __shared__ Running<E> warps[kBlock / 32];
  for (std::int64_t i = blockIdx.x; i < p.rows; i += gridDim.x) {
    const E* x = p.row(i);
    E* y = p.result(i);
    Running<E> carry = 0;
    for (std::int64_t first = 0; first < p.n; first += kTile) {
      const std::int64_t r = first + threadIdx.x * kRun;
      Running<E> v[kRun];
      load_run(x, p.x_reduced, r, p.n, v);
      scan_run(v);
      scan_warp(v);
      const Running<E> sum = scan_block(v, warps);
      store_run(v, carry, p.y_reduced, r, p.n, y);
      carry = add(carry, sum);
    }
  }
}

/// A block to a tile: its sum to `tiles`, or y from what `tiles` holds of those before it.
template <bool kSums, class E>
__global__ __launch_bounds__(kBlock) void scan_tiles(Plan<E> p) {
  __shared__ Running<E> warps[kBlock / 32];
  for (std::int64_t item = blockIdx.x; item < p.rows * p.count; item += gridDim.x) {
    const std::int64_t i = item / p.count;
    const std::int64_t r = item % p.count * kTile + threadIdx.x * kRun;
    Running<E> v[kRun];
    load_run(p.row(i), p.x_reduced, r, p.n, v);
    scan_run(v);
    scan_warp(v);
    const Running<E> sum = scan_block(v, warps);
    if (!kSums) store_run(v, p.tiles[item], p.y_reduced, r, p.n, p.result(i));
    if (kSums && threadIdx.x == 0) p.tiles[item] = sum;
  }
}

/// A warp to a row: the sums of its tiles become what precedes each.
template <class E>
__global__ __launch_bounds__(32) void carry_tiles(Plan<E> p) {
  using R = Running<E>;
  __shared__ R some[kBlock];
  for (std::int64_t i = blockIdx.x; i < p.rows; i += gridDim.x) {
    R* tiles = p.tiles + i * p.count;
    R carry = 0;
    for (std::int64_t first = 0; first < p.count; first += kBlock) {
      const int count = static_cast<int>(min(p.count - first, std::int64_t{kBlock}));
      for (int k = threadIdx.x; k < kBlock; k += 32) some[k] = k < count ? tiles[first + k] : R(0);
      __syncwarp();
      if (threadIdx.x == 0) {
#pragma unroll 16
        for (int k = 0; k < kBlock; ++k) {
          const R sum = some[k];
          some[k] = carry;
          carry = add(carry, sum);
        }
      }
      __syncwarp();
      for (int k = threadIdx.x; k < count; k += 32) tiles[first + k] = some[k];
      __syncwarp();
    }
  }
}

/// A thread to a row, run after run. before[d] is the sum of the last 2^d runs that began on a
/// multiple of 2^(d + 1).
template <class E>
__global__ __launch_bounds__(kBlock) void scan_columns(Plan<E> p) {
  using R = Running<E>;
  constexpr int kBits = 8;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kBlock;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x; i < p.rows;
       i += step) {
    const E* x = p.row(i);
    E* y = p.result(i);
    R carry = 0, before[kBits] = {};
    for (std::int64_t r = 0; r < p.n; r += kRun) {
      const int run = static_cast<int>(r % kTile / kRun);
      R v[kRun];
      load_run(x, p.x_reduced, r, p.n, v);
      scan_run(v);
#pragma unroll
      for (int d = 0; d < kBits; ++d) {
        if (run >> d & 1) {
          add_before(before[d], v);
        } else if ((run + 1) % (1 << d) == 0) {
          before[d] = v[kRun - 1];
        }
      }
      store_run(v, carry, p.y_reduced, r, p.n, y);
      if (run == kBlock - 1) carry = add(carry, v[kRun - 1]);
    }
  }
}

/// Fewer columns do not fill the device with a thread to each, fewer rows not with a block to each.
constexpr std::int64_t kManyColumns = 8192, kManyRows = 264;

template <class E>
void start(Plan<E>& p, const Launch& launch) {
  cudaStream_t stream = launch.stream;
  if (p.rows >= kManyColumns && are_columns(p.x_reduced, p.x_inner, p.inner)) {
    scan_columns<<<blocks_for(p.rows, kBlock), kBlock, 0, stream>>>(p);
  } else if (p.n <= 32 * kRun) {
    scan_short_rows<<<blocks_for(p.rows, kBlock / 32), kBlock, 0, stream>>>(p);
  } else if (p.rows >= kManyRows || p.count <= 4) {
    scan_rows<<<blocks_for(p.rows, 1), kBlock, 0, stream>>>(p);
  } else {
    const std::int64_t items = p.rows * p.count;
    p.tiles = static_cast<Running<E>*>(launch.scratch(items * sizeof(Running<E>)));
    scan_tiles<true><<<blocks_for(items, 1), kBlock, 0, stream>>>(p);
    check_launch("cumsum");
    carry_tiles<<<blocks_for(p.rows, 1), 32, 0, stream>>>(p);
    check_launch("cumsum");
    scan_tiles<false><<<blocks_for(items, 1), kBlock, 0, stream>>>(p);
  }
  check_launch("cumsum");
}

}  // namespace

template <class T>
void cumsum(const cpu::CumsumArgs<T>& g, const Launch& launch) {
  Plan<Element<T>> p{.x = device_input(g.x),
                     .y = device_output(g.y),
                     .tiles = nullptr,
                     .rows = g.outer * g.inner,
                     .inner = g.inner,
                     .n = g.reduced,
                     .count = (g.reduced + kTile - 1) / kTile,
                     .x_outer = g.x_outer,
                     .x_reduced = g.x_reduced,
                     .x_inner = g.x_inner,
                     .y_outer = g.y_outer,
                     .y_reduced = g.y_reduced,
                     .y_inner = g.y_inner};
  if (p.rows > 0 && p.n > 0) start(p, launch);
}

template void cumsum(const cpu::CumsumArgs<float>&, const Launch&);
template void cumsum(const cpu::CumsumArgs<double>&, const Launch&);
template void cumsum(const cpu::CumsumArgs<hwy::bfloat16_t>&, const Launch&);
template void cumsum(const cpu::CumsumArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

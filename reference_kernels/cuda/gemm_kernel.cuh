#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cuda/element.cuh"
#include "reference_kernels/cuda/gemm_finish.cuh"
#include "reference_kernels/cuda/gemm_paths.h"
#include "reference_kernels/cuda/gemm_totals.cuh"
#include "reference_kernels/cuda/launch.h"

// The kernel that all tiles of gemm share: it walks through the chunks of k and folds their sums.
// What a tile is, how it is loaded and multiplied is a `Tile`'s (gemm_simt.cu, gemm_mma.cu), which
// has: Element; kRows, kColumns (of y), kTileK (k loaded at a time), kStages, kStageBytes,
// kThreads, kCtas (at least so many on a multiprocessor), kSums (elements of y a thread), Totals;
// load, multiply, row, column, and has_sums: whether a thread has any.

namespace bic::cuda {

template <class E>
inline constexpr int kChunk = sizeof(E) == 2 ? kNarrowChunk : kWideChunk;

inline constexpr std::int64_t kProcessors = 132;  // of an H200; no bit depends on it

template <class E>
struct GemmProblem {
  cpu::GemmArgs<E> args;
  int ranks = 1;                 ///< CTAs, of one cluster, that share a tile's chunks
  int a_bytes = 0, w_bytes = 0;  ///< copied at a time, for tiles that can choose
  Accumulator<E>* sums =
      nullptr;  ///< [batch, m, n]: of 16-bit types, written in y's place if not null
};

/// What a tile reads of an operand: element (row, k) is first[row * row_stride + k * k_stride].
template <class E>
struct Strip {
  const E* first;
  std::int64_t row_stride, k_stride;
  std::int64_t rows, k;  ///< as many as there are
  int bytes;
};

/// Of a CTA's first element of y.
struct TilePlace {
  std::int64_t batch, row, column;
};

/// Tiles of one batch go down kGroup tiles, then across: CTAs that run together share operands in
/// the cache.
template <class Tile>
__device__ TilePlace tile_place(std::int64_t index, std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kGroup = 8;
  const std::int64_t down = ceil_div(m, Tile::kRows), across = ceil_div(n, Tile::kColumns);
  const std::int64_t tile = index % (down * across), group = tile / (kGroup * across);
  const std::int64_t inside = tile % (kGroup * across);
  const std::int64_t left = down - group * kGroup, height = left < kGroup ? left : kGroup;
  return {index / (down * across),
          (group * kGroup + inside % height) * Tile::kRows,
          inside / height * Tile::kColumns};
}

/// The first k of a CTA's loads, one after the other: of chunks rank, rank + ranks, ...
template <class Tile>
struct Walk {
  static constexpr int kEach = kChunk<typename Tile::Element>;
  std::int64_t k, end, skip;

  __device__ Walk(std::int64_t k_all, int rank, int ranks)
      : k(std::int64_t{rank} * kEach), end(k_all), skip(std::int64_t{ranks - 1} * kEach) {}
  __device__ bool has_more() const { return k < end; }
  __device__ void step() {
    k += Tile::kTileK;
    if (k % kEach == 0) k += skip;
  }
};

template <int kGroups>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kGroups) : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }

/// Copies kBytes, of which all but the first `valid` become 0 unread.
template <int kBytes>
__device__ inline void copy_async(void* shared, const void* global, int valid) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (kBytes == 16) {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(global), "r"(valid)
        : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(to),
                 "l"(global),
                 "n"(kBytes),
                 "r"(valid)
                 : "memory");
  }
}

template <class E>
__device__ Strip<E> rows_of_a(const GemmProblem<E>& p, const TilePlace& at) {
  const cpu::GemmArgs<E>& g = p.args;
  const E* first = g.a + at.batch * g.a_batch + at.row * g.a_row;
  return {first, g.a_row, g.a_k, g.m - at.row, g.k, p.a_bytes};
}
template <class E>
__device__ Strip<E> columns_of_w(const GemmProblem<E>& p, const TilePlace& at) {
  const cpu::GemmArgs<E>& g = p.args;
  const E* first = g.w + at.batch * g.w_batch + at.column * g.w_n;
  return {first, g.w_n, g.w_k, g.n - at.column, g.k, p.w_bytes};
}

template <class E>
__device__ void write(const GemmProblem<E>& p,
                      std::int64_t batch,
                      std::int64_t i,
                      std::int64_t j,
                      Accumulator<E> sum) {
  const cpu::GemmArgs<E>& g = p.args;
  if constexpr (sizeof(E) == 2) {
    if (p.sums != nullptr) {
      if (i < g.m && j < g.n) p.sums[(batch * g.m + i) * g.n + j] = sum;
      return;
    }
  }
  finish(g, batch, i, j, sum);
}

template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kCtas)
    gemm_kernel(const __grid_constant__ GemmProblem<typename Tile::Element> p) {
  using E = typename Tile::Element;
  constexpr int kEach = kChunk<E>;
  extern __shared__ __align__(128) unsigned char memory[];
  const cpu::GemmArgs<E>& g = p.args;
  const int rank = static_cast<int>(blockIdx.x % p.ranks);
  const TilePlace at = tile_place<Tile>(blockIdx.x / p.ranks, g.m, g.n);
  const Strip<E> a = rows_of_a(p, at), w = columns_of_w(p, at);
  typename Tile::Totals totals(memory + Tile::kStages * Tile::kStageBytes, p.ranks, rank);

  Walk<Tile> ahead(g.k, rank, p.ranks);
  const auto load_next = [&](int stage) {
    if (ahead.has_more()) Tile::load(memory + stage * Tile::kStageBytes, a, w, ahead.k);
    ahead.step();
    commit_copies();
  };
  for (int stage = 0; stage < Tile::kStages - 1; ++stage) load_next(stage);
  int stage = 0, free_stage = Tile::kStages - 1;
  const std::int64_t chunks = ceil_div(g.k, kEach);
  for (std::int64_t round = 0; round < chunks; round += p.ranks) {  // a chunk for every rank
    Accumulator<E> sums[Tile::kSums] = {};
    const std::int64_t left = g.k - (round + rank) * kEach;
    for (int k = 0; k < kEach && k < left; k += Tile::kTileK) {
      wait_for_copies<Tile::kStages - 2>();
      __syncthreads();  // the stage is there for all, and free_stage was read by all
      load_next(free_stage);
      Tile::multiply(memory + stage * Tile::kStageBytes, sums);
      stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
      free_stage = free_stage + 1 == Tile::kStages ? 0 : free_stage + 1;
    }
    totals.add(sums, chunks - round);
  }
  wait_for_copies<0>();
  totals.each([&](int i, Accumulator<E> sum) {
    if (Tile::has_sums()) {
      write(p, at.batch, at.row + Tile::row(i), at.column + Tile::column(i), sum);
    }
  });
}

/// How many CTAs share a tile's chunks, so that about `busy` of them run: no bit depends on it.
inline int ranks_for(std::int64_t tiles, std::int64_t chunks, std::int64_t busy) {
  const std::int64_t most = std::min<std::int64_t>({kMaxRanks, chunks, ceil_div(busy, tiles)});
  if (most <= 1) return 1;
  return static_cast<int>(ceil_div(chunks, ceil_div(chunks, most)));  // the same rounds, evenly
}

template <class Tile>
std::int64_t tiles_of(const cpu::GemmArgs<typename Tile::Element>& g) {
  return ceil_div(g.m, Tile::kRows) * ceil_div(g.n, Tile::kColumns);
}

/// The problem of batches first, first + 1, ...
template <class E>
GemmProblem<E> from_batch(const GemmProblem<E>& p, std::int64_t first) {
  GemmProblem<E> rest = p;
  rest.args.a += first * p.args.a_batch;
  rest.args.w += first * p.args.w_batch;
  rest.args.y += first * p.args.y_batch;
  if (p.args.bias != nullptr) rest.args.bias += first * p.args.bias_batch;
  if (p.sums != nullptr) rest.sums += first * p.args.m * p.args.n;
  return rest;
}

/// Queues the kernel, `busy` CTAs if k allows; several times when there are more tiles than a grid
/// can have.
template <class Tile>
void launch_gemm(GemmProblem<typename Tile::Element> p, std::int64_t busy, const Launch& launch) {
  const std::int64_t tiles = tiles_of<Tile>(p.args), batch = p.args.batch;
  const std::int64_t chunks = ceil_div(p.args.k, kChunk<typename Tile::Element>);
  p.ranks = Tile::Totals::kShares ? ranks_for(tiles * batch, chunks, busy) : 1;
  constexpr std::size_t kStages = Tile::kStages * Tile::kStageBytes;
  const std::size_t bytes = kStages + Tile::Totals::bytes(p.ranks);
  // The most that any call needs: the attribute is the kernel's, and other threads launch it too.
  cudaFuncSetAttribute(gemm_kernel<Tile>,
                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(kStages + Tile::Totals::bytes(kMaxRanks)));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(p.ranks), 1, 1};
  const std::int64_t at_once = std::max<std::int64_t>(1, 0x7fffffff / p.ranks / tiles);
  for (std::int64_t first = 0; first < batch; first += at_once) {
    cudaLaunchConfig_t config{};
    config.gridDim =
        dim3(static_cast<unsigned>(std::min(at_once, batch - first) * tiles * p.ranks));
    config.blockDim = dim3(Tile::kThreads);
    config.dynamicSmemBytes = bytes;
    config.stream = launch.stream;
    config.attrs = &cluster;
    config.numAttrs = p.ranks > 1 ? 1 : 0;
    cudaLaunchKernelEx(&config, gemm_kernel<Tile>, from_batch(p, first));
    check_launch("gemm");
  }
}

}  // namespace bic::cuda

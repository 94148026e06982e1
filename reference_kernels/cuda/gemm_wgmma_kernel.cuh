#pragma once

#include <cooperative_groups.h>

#include "reference_kernels/cuda/gemm_finish.cuh"
#include "reference_kernels/cuda/gemm_wgmma.cuh"
#include "reference_kernels/cuda/gemm_wgmma_write.cuh"

// The two kernels of gemm_wgmma: all of k in a CTA, or a chunk in each CTA of a cluster.

namespace bic::cuda {

/// All CTAs of a cluster, or the one that there is.
template <class Tile>
__device__ inline void sync_all() {
  if constexpr (Tile::kPair || Tile::kSpread) {
    cooperative_groups::this_cluster().sync();
  } else {
    __syncthreads();
  }
}

/// In shared memory, aligned to the swizzle's pattern: equally far in each CTA of a cluster.
template <class Tile>
__device__ inline unsigned char* aligned(unsigned char* memory) {
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  return memory + (Tile::kAlignment - at % Tile::kAlignment) % Tile::kAlignment;
}

/// Two warpgroups: every tile of the CTA.
template <class Tile>
__device__ __forceinline__ void consume(const WgmmaProblem<typename Tile::Element>& p,
                                        const Stages<Tile>& stages) {
  Turn<Tile> turn;
  for (int tile = blockIdx.x / Tile::kCtas; tile < p.down * p.across;
       tile += gridDim.x / Tile::kCtas) {
    float totals[Tile::kSums] = {};
    for (int left = p.steps; left > 0; left -= Tile::kChunkSteps) {
      float sums[Tile::kSums];
      multiply_chunk<Tile>(sums, stages, turn, min(left, Tile::kChunkSteps));
#pragma unroll
      for (int i = 0; i < Tile::kSums; ++i) totals[i] = cuda::add(totals[i], sums[i]);
    }
    const WgmmaPlace at = wgmma_place<Tile>(tile, p.down, p.across);
    write_sums(p.args, first_sum(at), totals);
  }
}

/// A CTA, or a pair, has every so many-th tile and all of k.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_wgmma_kernel(const __grid_constant__ WgmmaProblem<typename Tile::Element> p) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Stages<Tile> stages(aligned<Tile>(memory));
  if (threadIdx.x == 0) stages.initialise();
  sync_all<Tile>();
  if (threadIdx.x / 128 == Tile::kConsumers) {
    if constexpr (Tile::kMovesRegisters) give_registers<Tile::kProducerRegisters>();
    if (threadIdx.x == Tile::kConsumers * 128) {
      Turn<Tile> turn;
      for (int tile = blockIdx.x / Tile::kCtas; tile < p.down * p.across;
           tile += gridDim.x / Tile::kCtas) {
        produce(p, stages, turn, wgmma_place<Tile>(tile, p.down, p.across), 0, p.steps);
      }
    }
    __syncwarp();
  } else {
    if constexpr (Tile::kMovesRegisters) take_registers<Tile::kConsumerRegisters>();
    consume<Tile>(p, stages);
  }
  if constexpr (Tile::kPair) sync_all<Tile>();  // the other may arrive here, or copy, until it ends
}

/// Sums of a chunk to this CTA's part of the cluster's memory.
template <class Tile>
__device__ __forceinline__ void multiply_one_chunk(const Stages<Tile>& stages,
                                                   int count,
                                                   float* part) {
  Turn<Tile> turn;
  float sums[Tile::kSums];
  multiply_chunk<Tile>(sums, stages, turn, count);
#pragma unroll
  for (int i = 0; i < Tile::kSums; ++i) part[i * 256 + threadIdx.x] = sums[i];
}

/// Folds the chunks' sums, c = 0, 1, ..., of those groups that are this CTA's, and writes them to
/// y.
template <class Tile>
__device__ __forceinline__ void fold_chunks(const WgmmaProblem<typename Tile::Element>& p,
                                            const WgmmaPlace& at,
                                            float* part) {
  auto cluster = cooperative_groups::this_cluster();
  const int chunks = static_cast<int>(cluster.num_blocks());
  const WgmmaPlace first = first_sum(at);
  for (int group = cluster.block_rank(); group < Tile::kSums / 8; group += chunks) {
    float totals[8] = {};
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const float* from = cluster.map_shared_rank(part, chunk) + group * 8 * 256 + threadIdx.x;
#pragma unroll
      for (int i = 0; i < 8; ++i) totals[i] = cuda::add(totals[i], from[i * 256]);
    }
    write_sums(p.args, {first.row, first.column + group * 16}, totals);
  }
}

/// A cluster has a tile, each of its CTAs one chunk of k.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_wgmma_spread_kernel(const __grid_constant__ WgmmaProblem<typename Tile::Element> p) {
  extern __shared__ __align__(128) unsigned char memory[];
  unsigned char* const first = aligned<Tile>(memory);
  const Stages<Tile> stages(first);
  auto* const part =
      reinterpret_cast<float*>(first + Tile::kStages * Tile::kStageBytes + Tile::kBarrierBytes);
  const int chunks = cooperative_groups::this_cluster().num_blocks(),
            chunk = cooperative_groups::this_cluster().block_rank();
  const WgmmaPlace at = wgmma_place<Tile>(blockIdx.x / chunks, p.down, p.across);
  const int begin = chunk * Tile::kChunkSteps, count = min(p.steps - begin, Tile::kChunkSteps);
  if (threadIdx.x == 0) stages.initialise();
  __syncthreads();
  if (threadIdx.x / 128 == Tile::kConsumers) {
    if (threadIdx.x == Tile::kConsumers * 128) {
      Turn<Tile> turn;
      produce(p, stages, turn, at, begin, count);
    }
    __syncwarp();
  } else {
    multiply_one_chunk(stages, count, part);
  }
  sync_all<Tile>();  // every chunk's sums are there
  if (threadIdx.x / 128 != Tile::kConsumers) fold_chunks<Tile>(p, at, part);
  sync_all<Tile>();  // and were read by all
}

}  // namespace bic::cuda

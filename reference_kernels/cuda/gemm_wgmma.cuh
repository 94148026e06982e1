#pragma once

#include <cuda.h>

#include <cstdint>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cuda/gemm_paths.h"
#include "reference_kernels/cuda/gemm_wgmma_write.cuh"
#include "reference_kernels/cuda/wgmma.cuh"

// What the kernels of gemm_wgmma share: stages of shared memory that a producer fills by the TMA
// and two warpgroups of consumers multiply.

namespace bic::cuda {

template <class E>
struct WgmmaProblem {
  cpu::GemmArgs<E> args;
  CUtensorMap a{}, w{};      ///< boxes of a stage
  int down = 0, across = 0;  ///< tiles; of two CTAs if they share columns of w
  int steps = 0;             ///< of kTileK, over all of k
};

/// A CTA's tile of 128 x kColumns_ elements of y, a half for each consumer. kPair_: two CTAs of a
/// cluster have the same columns and copy half of w's tile each, to both. In shared memory lines of
/// 64 elements are swizzled; w lies along k in lines by column, or (kAlongN_) in blocks of 64
/// columns in lines by k.
template <class E_, bool kAlongN_, int kColumns_, bool kPair_, bool kSpread_>
struct WgmmaTile {
  using Element = E_;
  static constexpr bool kAlongN = kAlongN_, kPair = kPair_, kSpread = kSpread_;
  static constexpr int kRows = 128, kColumns = kColumns_, kTileK = 64;
  static constexpr int kLineBytes = kTileK * 2;  // what the swizzle wants
  static constexpr int kCtas = kPair ? 2 : 1;
  static constexpr int kConsumers = 2, kThreads = (kConsumers + 1) * 128;
  static constexpr int kSums = kColumns / 2;  // of a consumer's thread: 64 x kColumns / 128
  // A third of all registers, 168 a thread, does not do for twice 96 sums: producers give up
  // theirs.
  static constexpr bool kMovesRegisters = kSums > 64;
  static constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;
  static constexpr int kABytes = kRows * kLineBytes, kWBytes = kColumns * kLineBytes;
  static constexpr int kStageBytes = kABytes + kWBytes;
  static constexpr int kTotalBytes = kSpread ? kRows * kColumns * 4 : 0;
  static constexpr int kStages = (200 * 1024 - kTotalBytes) / kStageBytes;
  static constexpr int kBarrierBytes = 128;
  static constexpr int kAlignment = 1024;  // of the swizzle's pattern
  static constexpr int kBytes = kAlignment + kStages * kStageBytes + kBarrierBytes + kTotalBytes;
  static constexpr int kChunkSteps = static_cast<int>(kNarrowChunk) / kTileK;
  // Of w's tile a CTA copies kBoxes boxes, kBoxLines lines of each.
  static constexpr int kBoxes = kAlongN ? kColumns / 64 : 1;
  static constexpr int kBoxLines = (kAlongN ? kTileK : kColumns) / kCtas;
  static_assert(kNarrowChunk % kTileK == 0 && 2 * 8 * kStages <= kBarrierBytes &&
                kColumns % 64 == 0);
  static_assert(!(kPair && kSpread), "the CTAs of a cluster share w or the chunks of k");
};

/// Where things lie in shared memory: stages of a and w, then a full and an empty barrier for each.
template <class Tile>
struct Stages {
  unsigned first;

  __device__ explicit Stages(unsigned char* aligned)
      : first(static_cast<unsigned>(__cvta_generic_to_shared(aligned))) {}
  __device__ unsigned a(int stage) const { return first + stage * Tile::kStageBytes; }
  __device__ unsigned w(int stage) const { return a(stage) + Tile::kABytes; }
  __device__ unsigned full(int stage) const { return a(Tile::kStages) + stage * 16; }
  __device__ unsigned empty(int stage) const { return full(stage) + 8; }

  /// By one thread, before any other uses a barrier. Every warp of consumers arrives at an empty
  /// barrier, also at that of the CTA whose copies it reads.
  __device__ void initialise() const {
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      init_barrier(full(stage), 1);
      init_barrier(empty(stage), Tile::kConsumers * 4 * Tile::kCtas);
    }
    publish_barriers();
  }
  __device__ void release(int stage) const {
    const unsigned lane = threadIdx.x % 32;
    if constexpr (Tile::kPair) {
      if (lane < Tile::kCtas) arrive_at(empty(stage), lane);
    } else {
      if (lane == 0) arrive(empty(stage));
    }
  }
};

/// The next stage, and the parity of the phase that its full barrier is in.
template <class Tile>
struct Turn {
  int stage = 0;
  unsigned parity = 0;

  __device__ void step() {
    if (++stage == Tile::kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// Tiles go down kGroup tiles, then across: CTAs that run together share operands in the cache.
template <class Tile>
__device__ inline WgmmaPlace wgmma_place(unsigned tile, unsigned down, unsigned across) {
  constexpr unsigned kGroup = 16 / Tile::kCtas;
  const unsigned group = tile / (kGroup * across), inside = tile % (kGroup * across);
  const unsigned left = down - group * kGroup, height = left < kGroup ? left : kGroup;
  const unsigned row = (group * kGroup + inside % height) * Tile::kCtas;
  const unsigned in_pair = Tile::kPair ? blockIdx.x % 2 : 0;
  return {static_cast<int>(row + in_pair) * Tile::kRows,
          static_cast<int>(inside / height) * Tile::kColumns};
}

/// Copies w's part of a stage, or this CTA's half of it to both.
template <class Tile>
__device__ void copy_w(
    unsigned to, const CUtensorMap* map, const WgmmaPlace& at, int k, unsigned barrier) {
  const int line = Tile::kPair ? static_cast<int>(blockIdx.x % 2) * Tile::kBoxLines : 0;
#pragma unroll
  for (int box = 0; box < Tile::kBoxes; ++box) {
    const unsigned place = to + box * 64 * Tile::kLineBytes + line * Tile::kLineBytes;
    const int x = Tile::kAlongN ? at.column + box * 64 : k;
    const int y = (Tile::kAlongN ? k : at.column) + line;
    if constexpr (Tile::kPair) {
      copy_box_to_two(place, map, x, y, barrier);
    } else {
      copy_box(place, map, x, y, barrier);
    }
  }
}

/// One thread: fills stages with steps first, ..., first + count - 1 of a tile's k.
template <class Tile>
__device__ void produce(const WgmmaProblem<typename Tile::Element>& p,
                        const Stages<Tile>& stages,
                        Turn<Tile>& turn,
                        const WgmmaPlace& at,
                        int first,
                        int count) {
  for (int k = first * Tile::kTileK; k < (first + count) * Tile::kTileK; k += Tile::kTileK) {
    const unsigned full = stages.full(turn.stage);
    wait_for(stages.empty(turn.stage), turn.parity ^ 1);  // at first: the phase before the first
    arrive_expecting(full, Tile::kStageBytes);
    copy_box(stages.a(turn.stage), &p.a, k, at.row, full);
    copy_w<Tile>(stages.w(turn.stage), &p.w, at, k, full);
    turn.step();
  }
}

/// A warpgroup: one chain of wgmma's a sum, from +0, k ascending, over the next `count` stages, at
/// least one.
template <class Tile>
__device__ __forceinline__ void multiply_chunk(float (&sums)[Tile::kSums],
                                               const Stages<Tile>& stages,
                                               Turn<Tile>& turn,
                                               int count) {
  constexpr unsigned kEight = 8 * Tile::kLineBytes, kBlock = 64 * Tile::kLineBytes;
  constexpr int kStepA = 16 * 2 / 16;  // 16 k on, in the descriptor's units of 16 bytes
  constexpr int kStepW = Tile::kAlongN ? 16 * Tile::kLineBytes / 16 : kStepA;
  // Of one lane for all: known to be uniform, as registers of descriptors are.
  const unsigned consumer = __shfl_sync(0xffffffffU, threadIdx.x / 128, 0);
  const unsigned half = consumer * (Tile::kABytes / 2);
#pragma unroll
  for (int i = 0; i < Tile::kSums; ++i) sums[i] = 0;
  int before = -1;
#pragma unroll 1
  do {  // at least once, or the compiler makes every wgmma wait for the one before
    wait_for(stages.full(turn.stage), turn.parity);
    const std::uint64_t a = operand(stages.a(turn.stage) + half, 16, kEight);
    const std::uint64_t w = operand(stages.w(turn.stage), Tile::kAlongN ? kBlock : 16, kEight);
    pin(sums);
    begin_products();
#pragma unroll
    for (int i = 0; i < Tile::kTileK / 16; ++i) {
      multiply<typename Tile::Element, Tile::kAlongN>(sums, a + i * kStepA, w + i * kStepW);
    }
    commit_products();
    wait_for_products<1>();
    if (before >= 0) stages.release(before);
    before = turn.stage;
    turn.step();
  } while (--count > 0);
  wait_for_products<0>();
  pin(sums);
  stages.release(before);
}

}  // namespace bic::cuda

#pragma once

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>

#include "reference_kernels/cuda/gemm_finish.cuh"

// How gemm folds the sums of chunks, in the order c = 0, 1, 2, ... from +0: in the registers of one
// CTA, or, of several that have a chunk each, in their shared memory. The bits are the same.

namespace bic::cuda {

inline constexpr int kMaxRanks = 8;  // CTAs of a cluster that every GPU with clusters can run

/// One CTA has all chunks of its tile. A is the type of sums; a thread has kSums of them.
template <class A, int kSums, int kThreads>
class RegisterTotals {
 public:
  static constexpr bool kShares = false;
  static std::size_t bytes(int /*ranks*/) { return 0; }

  __device__ RegisterTotals(void* /*shared*/, int /*ranks*/, int /*rank*/) {}

  __device__ void add(const A (&sums)[kSums], std::int64_t /*chunks*/) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) total_[i] = cuda::add(total_[i], sums[i]);
  }

  template <class F>
  __device__ void each(F f) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) f(i, total_[i]);
  }

 private:
  A total_[kSums] = {};
};

/// The CTAs of a cluster have every ranks-th chunk of the tile; the i-th sums of all threads are
/// folded by CTA i % ranks. Every thread has its own places, so that one CTA needs no barrier.
template <class A, int kSums, int kThreads>
class SharedTotals {
 public:
  static constexpr bool kShares = true;
  static std::size_t bytes(int ranks) { return sizeof(A) * kSums * kThreads * (ranks > 1 ? 2 : 1); }

  __device__ SharedTotals(void* shared, int ranks, int rank)
      : total_(static_cast<A*>(shared) + threadIdx.x), ranks_(ranks), rank_(rank) {
    for (int i = 0; i < kSums; ++i) total_[i * kThreads] = A(0);
  }

  /// The sums of this CTA's next chunk; `chunks` are left, this round's included. The first of them
  /// is rank 0's. All CTAs of the cluster call it equally often.
  __device__ void add(const A (&sums)[kSums], std::int64_t chunks) {
    if (ranks_ == 1) {
#pragma unroll
      for (int i = 0; i < kSums; ++i)
        total_[i * kThreads] = cuda::add(total_[i * kThreads], sums[i]);
      return;
    }
    A* const mine = total_ + kSums * kThreads;
#pragma unroll
    for (int i = 0; i < kSums; ++i) mine[i * kThreads] = sums[i];
    auto cluster = cooperative_groups::this_cluster();
    cluster.sync();  // every rank's sums are there
    const int parts = chunks < ranks_ ? static_cast<int>(chunks) : ranks_;
    const A* part[kMaxRanks];
#pragma unroll
    for (int r = 0; r < kMaxRanks; ++r) part[r] = cluster.map_shared_rank(mine, r < parts ? r : 0);
    for (int i = rank_; i < kSums; i += ranks_) {
      A value[kMaxRanks];
#pragma unroll
      for (int r = 0; r < kMaxRanks; ++r) value[r] = r < parts ? part[r][i * kThreads] : A(0);
      A total = total_[i * kThreads];
#pragma unroll
      for (int r = 0; r < kMaxRanks; ++r) total = r < parts ? cuda::add(total, value[r]) : total;
      total_[i * kThreads] = total;
    }
    cluster.sync();  // and were read by all: they may be overwritten, or their CTA end
  }

  template <class F>
  __device__ void each(F f) const {
    for (int i = rank_; i < kSums; i += ranks_) f(i, total_[i * kThreads]);
  }

 private:
  A* total_;
  int ranks_, rank_;
};

}  // namespace bic::cuda

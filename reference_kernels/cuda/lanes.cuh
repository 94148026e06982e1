#pragma once

#include <cstdint>

#include "reference_kernels/cuda/element.cuh"

// The order in which the row reductions add, whoever executes it: 256 lanes; lane l takes the terms
// r with r / kVector % 256 == l, in their order. Then lanes l and l + 128 are joined, l + 64, ...,
// l + 1. A warp has 8 lanes a thread, a block one, and of columns a thread has several in turn.

namespace bic::cuda {

inline constexpr int kLanes = 256;  // part of the order: changing it changes the bits
/// Terms that follow one another in a lane: 16 bytes. Part of the order too.
template <class E>
inline constexpr int kVector = 16 / sizeof(E);

inline constexpr int kBlock = 256;  ///< threads of a block: as many as lanes

template <class E>
struct alignas(16) Vector {
  E e[kVector<E>];
};

/// v[i] = x[i * stride], i < count <= kVector
template <class E>
__device__ void load_terms(const E* x,
                           std::int64_t stride,
                           int count,
                           Accumulator<E> (&v)[kVector<E>]) {
  if (stride == 1 && count == kVector<E> && is_aligned(x)) {
    const Vector<E> q = *reinterpret_cast<const Vector<E>*>(x);
#pragma unroll
    for (int i = 0; i < kVector<E>; ++i) v[i] = load(q.e[i]);
    return;
  }
#pragma unroll
  for (int i = 0; i < kVector<E>; ++i) {
    if (i < count) v[i] = load(x[i * stride]);
  }
}

/// y[i * stride] = v[i], i < count <= kVector
template <class E>
__device__ void store_terms(const Accumulator<E> (&v)[kVector<E>],
                            std::int64_t stride,
                            int count,
                            E* y) {
  if (stride == 1 && count == kVector<E> && is_aligned(y)) {
    Vector<E> q;
#pragma unroll
    for (int i = 0; i < kVector<E>; ++i) store(q.e[i], v[i]);
    *reinterpret_cast<Vector<E>*>(y) = q;
    return;
  }
#pragma unroll
  for (int i = 0; i < kVector<E>; ++i) {
    if (i < count) store(y[i * stride], v[i]);
  }
}

/// The terms of a row: r is x[r / reduced * slow + r % reduced * stride].
template <class E>
struct Terms {
  const E* x;
  std::int64_t stride, reduced, slow;

  /// v[i] = term r + i, i < count <= kVector
  __device__ void get(std::int64_t r, int count, Accumulator<E> (&v)[kVector<E>]) const {
    std::int64_t s = 0, i = r;
    if (r + count > reduced) s = r / reduced, i = r % reduced;
    if (i + count <= reduced) return load_terms(x + s * slow + i * stride, stride, count, v);
#pragma unroll
    for (int k = 0; k < kVector<E>; ++k) {
      if (k < count) v[k] = load(x[s * slow + i * stride]);
      if (++i == reduced) i = 0, ++s;
    }
  }
};

template <class E>
__device__ int terms_left(std::int64_t r, std::int64_t end) {
  return end - r < kVector<E> ? static_cast<int>(end - r) : kVector<E>;
}

/// Slots that a thread loads before it adds the first: enough bytes in flight.
inline constexpr int kSlots = 8;

/// A thread's share of terms [r, ...): vector s of it is kThreads vectors after vector s - 1. They
/// lie side by side, aligned.
template <int kThreads, class E, class Add>
__device__ void add_vectors(const E* x,
                            std::int64_t r,
                            std::int64_t end,
                            const Add& add,
                            Accumulator<E> (&lane)[kLanes / kThreads]) {
  constexpr int kMine = kLanes / kThreads, kApart = kThreads * kVector<E>;
  Vector<E> q[kSlots];
#pragma unroll
  for (int s = 0; s < kSlots; ++s) {
    const std::int64_t at = r + s * kApart;
    if (at + kVector<E> <= end) q[s] = *reinterpret_cast<const Vector<E>*>(x + at);
  }
#pragma unroll
  for (int s = 0; s < kSlots; ++s) {
    const std::int64_t at = r + s * kApart;
    const bool whole = at + kVector<E> <= end;
#pragma unroll
    for (int i = 0; i < kVector<E>; ++i) {
      if (whole) lane[s % kMine] = add(lane[s % kMine], load(q[s].e[i]));
    }
    if (whole || at >= end) continue;
    for (int i = 0; at + i < end; ++i) lane[s % kMine] = add(lane[s % kMine], load(x[at + i]));
  }
}

/// The same for terms anywhere.
template <int kThreads, class E, class Add>
__device__ void add_scattered(const Terms<E>& terms,
                              std::int64_t r,
                              std::int64_t end,
                              const Add& add,
                              Accumulator<E> (&lane)[kLanes / kThreads]) {
  constexpr int kMine = kLanes / kThreads, kApart = kThreads * kVector<E>;
#pragma unroll
  for (int s = 0; s < kSlots; ++s) {
    const std::int64_t at = r + s * kApart;
    if (at >= end) continue;
    const int count = terms_left<E>(at, end);
    Accumulator<E> v[kVector<E>];
    terms.get(at, count, v);
#pragma unroll
    for (int i = 0; i < kVector<E>; ++i) {
      if (i < count) lane[s % kMine] = add(lane[s % kMine], v[i]);
    }
  }
}

/// The fold of the lanes l + 32 k of a warp's threads l, in all of them. Both ends of an exchange
/// join the same two numbers.
template <class A, class Join>
__device__ A fold_warp(A (&lane)[8], const Join& join) {
#pragma unroll
  for (int half = 4; half > 0; half /= 2) {
#pragma unroll
    for (int k = 0; k < half; ++k) lane[k] = join(lane[k], lane[k + half]);
  }
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    lane[0] = join(lane[0], __shfl_xor_sync(~0u, lane[0], half));
  }
  return lane[0];
}

/// Terms [begin, end) added by a warp (kThreads 32) or a block (kBlock) of which this is thread t,
/// for all of its threads; begin is a multiple of kLanes * kVector. `shared` is a block's.
template <int kThreads, class E, class Add, class Join>
__device__ Accumulator<E> add_row(const Terms<E>& terms,
                                  std::int64_t begin,
                                  std::int64_t end,
                                  Accumulator<E> start,
                                  const Add& add,
                                  const Join& join,
                                  Accumulator<E>* shared) {
  using A = Accumulator<E>;
  const int t = threadIdx.x % kThreads;
  const bool vectors = terms.stride == 1 && end <= terms.reduced && is_aligned(terms.x);
  A lane[kLanes / kThreads];
#pragma unroll
  for (A& l : lane) l = start;
  for (std::int64_t r = begin + t * kVector<E>; r < end; r += kSlots * kThreads * kVector<E>) {
    if (vectors) {
      add_vectors<kThreads>(terms.x, r, end, add, lane);
    } else {
      add_scattered<kThreads>(terms, r, end, add, lane);
    }
  }
  if constexpr (kThreads == 32) {
    return fold_warp(lane, join);
  } else {
    A mine[8];
    shared[t] = lane[0];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) mine[k] = shared[t % 32 + 32 * k];
    __syncthreads();
    return fold_warp(mine, join);
  }
}

/// Columns of a block: their lanes take 32 KiB of shared memory.
template <class A>
inline constexpr int kColumns = 128 / sizeof(A);

/// As add_row, for thread threadIdx.x % kColumns's column; all columns have the same begin and end,
/// and all threads of a column get its sum. `shared` is [kLanes][kColumns].
template <class E, class Add, class Join>
__device__ Accumulator<E> add_column(const Terms<E>& terms,
                                     std::int64_t begin,
                                     std::int64_t end,
                                     Accumulator<E> start,
                                     const Add& add,
                                     const Join& join,
                                     Accumulator<E>* shared) {
  using A = Accumulator<E>;
  constexpr int kWidth = kColumns<A>, kGroups = kBlock / kWidth;
  const int group = threadIdx.x / kWidth;
  A* mine = shared + threadIdx.x % kWidth;
  // Lanes without a term would join as the start they are, which changes nothing.
  int top = 1;
  while (top < kLanes && begin + top * kVector<E> < end) top *= 2;
  for (int l = group; l < top; l += kGroups) {
    A lane = start;
    for (std::int64_t r = begin + l * kVector<E>; r < end; r += kLanes * kVector<E>) {
      const int count = terms_left<E>(r, end);
      A v[kVector<E>];
      terms.get(r, count, v);
#pragma unroll
      for (int i = 0; i < kVector<E>; ++i) {
        if (i < count) lane = add(lane, v[i]);
      }
    }
    mine[l * kWidth] = lane;
  }
  __syncthreads();
  for (int half = top / 2; half > 0; half /= 2) {
    for (int l = group; l < half; l += kGroups) {
      mine[l * kWidth] = join(mine[l * kWidth], mine[(l + half) * kWidth]);
    }
    __syncthreads();
  }
  const A sum = mine[0];
  __syncthreads();
  return sum;
}

/// Whether 8 or more rows lie side by side, term by term: columns.
inline bool are_columns(std::int64_t stride, std::int64_t inner_stride, std::int64_t inner) {
  return inner >= 8 && inner_stride == 1 && stride != 1;
}

/// Blocks for so many items, `each` to a block; kernels walk over the rest.
inline unsigned blocks_for(std::int64_t items, std::int64_t each) {
  const std::int64_t blocks = (items + each - 1) / each, most = 1 << 24;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

}  // namespace bic::cuda

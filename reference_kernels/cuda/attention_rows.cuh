#pragma once

#include <algorithm>
#include <cstdint>

#include "reference_kernels/cpu/attention.h"
#include "reference_kernels/cuda/element.cuh"

// What the kernels of attention share: which rows a block has, what they see, and the maximum.

namespace bic::cuda {

constexpr int kBlockKeys = 64;  // part of the order: changing it changes the bits

/// Query rows of one key head. Row r of a key head is query r % l of the group's head r / l.
struct RowBlock {
  std::int64_t batch, key_head, first;
};

template <class T>
__host__ __device__ std::int64_t rows_of(const cpu::AttentionArgs<T>& g) {
  return g.key_heads == 0 ? 0 : g.heads / g.key_heads * g.l;
}

/// Block `index` of those of `size` rows, the rows of a key head one after the other.
template <class T>
__device__ RowBlock row_block(const cpu::AttentionArgs<T>& g, std::int64_t index, int size) {
  const std::int64_t blocks = (rows_of(g) + size - 1) / size, head = index / blocks;
  return {head / g.key_heads, head % g.key_heads, index % blocks * size};
}

/// Where row r of the block starts in what has these strides.
template <class T>
__device__ std::int64_t row_start(const cpu::AttentionArgs<T>& g,
                                  const RowBlock& b,
                                  const cpu::HeadStrides& at,
                                  int r) {
  const std::int64_t row = b.first + r;
  const std::int64_t head = b.key_head * (g.heads / g.key_heads) + row / g.l;
  return b.batch * at.batch + head * at.head + row % g.l * at.row;
}

/// How many keys one row may see, those before the causal diagonal; none behind the last row.
template <class T>
__device__ std::int64_t keys_of(const cpu::AttentionArgs<T>& g, const RowBlock& b, int r) {
  if (b.first + r >= rows_of(g)) return 0;
  return g.causal ? min(g.s, (b.first + r) % g.l + 1) : g.s;
}

/// The most that any of `count` rows may see.
template <class T>
__device__ std::int64_t most_keys(const cpu::AttentionArgs<T>& g, const RowBlock& b, int count) {
  const std::int64_t last = min(b.first + count, rows_of(g)) - 1;
  if (!g.causal) return g.s;
  return min(g.s, (b.first / g.l == last / g.l ? last % g.l : g.l - 1) + 1);
}

/// A row's mask and the keys that it may see.
struct Sight {
  std::int64_t mask, keys;
};

template <class T>
__device__ Sight sight_of(const cpu::AttentionArgs<T>& g, const RowBlock& b, int r) {
  return {row_start(g, b, g.mask_at, r), keys_of(g, b, r)};
}

/// z of key j, -Inf where the row does not look.
template <class T, class A>
__device__ A logit(const cpu::AttentionArgs<T>& g, const Sight& row, std::int64_t j, A dot) {
  const A lowest = -INFINITY;
  if (j >= row.keys || (g.seen != nullptr && !g.seen[row.mask + j])) return lowest;
  const A added = g.added != nullptr ? g.added[row.mask + j] : A(0);
  return added == lowest ? lowest : fma(dot, static_cast<A>(g.scale), added);
}

/// What is subtracted from z; 0 as long as a row has seen no key.
template <class A>
__device__ A subtrahend(A most) {
  return most == -INFINITY ? A(0) : most;
}

template <class E, class A>
__device__ void store_quotient(E& y, A sum, A weights) {
  store(y, sum / (weights == 0 ? A(1) : weights) + A(0));
}

/// Blocks of one grid; kernels step over the rest.
inline unsigned grid_of(std::int64_t items) {
  return static_cast<unsigned>(std::min<std::int64_t>(items, 1 << 30));
}

}  // namespace bic::cuda

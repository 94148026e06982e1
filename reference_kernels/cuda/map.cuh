#pragma once

#include <cstdint>

#include "reference_kernels/cuda/lanes.cuh"

// y[i] = f(i, x[i], more[i], ...), for kernels that look at one element at a time.

namespace bic::cuda {

inline constexpr int kMapThreads = 128;
/// Elements that a thread takes: those of two accesses of 16 bytes.
template <class E>
inline constexpr int kMapElements = 32 / sizeof(E);
template <class E>
inline constexpr std::int64_t kMapTile = std::int64_t{kMapThreads} * kMapElements<E>;

/// The elements of one thread in one tile, whose k-th is at(k) places from the tile's begin.
template <class E>
struct MapSlots {
  static constexpr int kCount = kMapElements<E>, kEach = kVector<E>;
  Vector<E> vector[kCount / kEach];

  static __device__ int at(bool vectors, int k) {
    const int thread = threadIdx.x;
    return vectors ? (k / kEach * kMapThreads + thread) * kEach + k % kEach
                   : k * kMapThreads + thread;
  }

  __device__ E& operator[](int k) { return vector[k / kEach].e[k % kEach]; }

  /// Beyond `count` stand zeros.
  __device__ void read(const E* tile, bool vectors, std::int64_t count) {
    if (vectors) {
#pragma unroll
      for (int k = 0; k < kCount; k += kEach) {
        vector[k / kEach] = *reinterpret_cast<const Vector<E>*>(tile + at(true, k));
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      (*this)[k] = at(false, k) < count ? tile[at(false, k)] : E(0.0f);
    }
  }

  __device__ void write(E* tile, bool vectors, std::int64_t count) {
    if (vectors) {
#pragma unroll
      for (int k = 0; k < kCount; k += kEach) {
        *reinterpret_cast<Vector<E>*>(tile + at(true, k)) = vector[k / kEach];
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (at(false, k) < count) tile[at(false, k)] = (*this)[k];
    }
  }
};

/// The accesses differ between a whole aligned tile and any other, what is computed does not.
template <class E, class F, class... More>
__global__ void __launch_bounds__(kMapThreads)
    map_tiles(F f, bool aligned, std::int64_t n, E* y, const E* x, const More*... more) {
  const std::int64_t first = blockIdx.x * kMapTile<E>;
  const std::int64_t count = n - first;
  const bool vectors = aligned && count >= kMapTile<E>;
  const auto slots_of = [&](const E* p) {
    MapSlots<E> slots;
    slots.read(p + first, vectors, count);
    return slots;
  };
  const auto evaluate = [&](auto in, auto... others) {
    MapSlots<E> out;
#pragma unroll
    for (int k = 0; k < MapSlots<E>::kCount; ++k) {
      const std::int64_t i = first + MapSlots<E>::at(vectors, k);
      store(out[k], f(i, load(in[k]), load(others[k])...));
    }
    return out;
  };
  evaluate(slots_of(x), slots_of(more)...).write(y + first, vectors, count);
}

/// An element a thread: where there are few, a tile a block leaves most of a device idle.
template <class E, class F, class... More>
__global__ void __launch_bounds__(kMapThreads)
    map_each(F f, std::int64_t n, E* y, const E* x, const More*... more) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kMapThreads + threadIdx.x;
  if (i < n) store(y[i], f(i, load(x[i]), load(more[i])...));
}

/// Fewer tiles than a large device has multiprocessors.
template <class E>
inline constexpr std::int64_t kMapFew = 128 * kMapTile<E>;

template <class E, class F, class... More>
void launch_map(const Launch& launch,
                const char* kernel,
                F f,
                std::int64_t n,
                bool vectors,
                E* y,
                const E* x,
                const More*... more) {
  if (n <= 0) return;
  if (n <= kMapFew<E>) {
    const auto blocks = static_cast<unsigned>((n + kMapThreads - 1) / kMapThreads);
    map_each<<<blocks, kMapThreads, 0, launch.stream>>>(f, n, y, x, more...);
    return check_launch(kernel);
  }
  const bool aligned = vectors && is_aligned(y) && is_aligned(x) && (... && is_aligned(more));
  const auto blocks = static_cast<unsigned>((n + kMapTile<E> - 1) / kMapTile<E>);
  map_tiles<<<blocks, kMapThreads, 0, launch.stream>>>(f, aligned, n, y, x, more...);
  check_launch(kernel);
}

/// Queues it; y may be any of the inputs.
template <class E, class F, class... More>
void map(const Launch& launch,
         const char* kernel,
         F f,
         std::int64_t n,
         E* y,
         const E* x,
         const More*... more) {
  launch_map(launch, kernel, f, n, true, y, x, more...);
}

/// The same for an f that loads something by i: neighbouring threads take neighbouring elements.
template <class E, class F>
void map_neighbours(
    const Launch& launch, const char* kernel, F f, std::int64_t n, E* y, const E* x) {
  launch_map(launch, kernel, f, n, false, y, x);
}

}  // namespace bic::cuda

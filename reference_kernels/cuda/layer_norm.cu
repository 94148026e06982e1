#include <algorithm>

#include "reference_kernels/cuda/layer_norm.h"
#include "reference_kernels/cuda/rounded.cuh"
#include "reference_kernels/cuda/vectors.cuh"

namespace bic::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kRowsOfABlock = 4;      // where a warp takes a row
constexpr std::int64_t kMany = 1024;  // rows that keep a device busy with a warp each

/// A row as its kThreads threads see it. Of the row's vectors, in order, a thread has
/// every kThreads-th: those of kSums lanes in turn. It keeps kKept, the whole row, in registers; 0
/// are read again each time.
template <class E, int kThreads, int kKept>
class Row {
 public:
  static constexpr int kSums = kLanes / kThreads;
  static_assert(kKept > 0 || kSums == 1);

  __device__ Row(const E* x, std::int64_t h, int thread) : x_(x), h_(h), thread_(thread) {
#pragma unroll
    for (int q = 0; q < kKept; ++q) {
      if (place(q) < h) kept_[q] = read_vector(x, place(q), h);
    }
  }

  /// f(which of the thread's lanes, vector, place of its first element), in ascending order.
  template <class F>
  __device__ void each(F f) const {
    if constexpr (kKept > 0) {
#pragma unroll
      for (int q = 0; q < kKept; ++q) {
        if (place(q) < h_) f(q % kSums, kept_[q], place(q));
      }
    } else {
#pragma unroll 4
      for (std::int64_t i = place(0); i < h_; i += std::int64_t{kThreads} * kVector<E>) {
        f(0, read_vector(x_, i, h_), i);
      }
    }
  }

 private:
  __device__ std::int64_t place(int q) const {
    return std::int64_t{thread_ + q * kThreads} * kVector<E>;
  }

  const E* x_;
  std::int64_t h_;
  int thread_;
  Vector<E> kept_[std::max(kKept, 1)];
};

/// Lane l with l + 128, ..., l + 1; every thread of the row gets the sum. A thread's j-th sum is
/// lane thread + 32 j, or there is one, lane `thread`, and `shared` has room for all.
template <class A, int kSums>
__device__ A fold(const A (&sums)[kSums], A* shared) {
  constexpr int kOfAWarp = kLanes / kWarp;  // of one of its threads
  A lane[kOfAWarp];
  if constexpr (kSums == 1) {
    shared[threadIdx.x] = sums[0];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kOfAWarp; ++j) lane[j] = shared[threadIdx.x % kWarp + j * kWarp];
  } else {
    static_assert(kSums == kOfAWarp);
#pragma unroll
    for (int j = 0; j < kOfAWarp; ++j) lane[j] = sums[j];
  }
  return fold_warp(lane, [](A a, A b) { return add(a, b); });
}

template <class A>
struct Moments {
  A mean, rstd;
};

/// `shared` has room for two sums.
template <class A, class E, int kThreads, int kKept>
__device__ Moments<A> moments(const Row<E, kThreads, kKept>& row,
                              const cpu::LayerNormArgs<E>& g,
                              A (*shared)[kLanes]) {
  constexpr int kSums = Row<E, kThreads, kKept>::kSums, kEach = kVector<E>;
  A mean = 0;
  if (g.center) {
    A sums[kSums] = {};
    row.each([&](int s, const Vector<E>& x, std::int64_t) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) sums[s] = add(sums[s], load(x.e[k]));
    });
    mean = div(fold(sums, shared[0]), static_cast<A>(g.h));
  }
  A squares[kSums] = {};
  row.each([&](int s, const Vector<E>& x, std::int64_t i) {
    const int count = g.h - i < kEach ? static_cast<int>(g.h - i) : kEach;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const A d = k < count ? sub(load(x.e[k]), mean) : A(0);
      squares[s] = fma(d, d, squares[s]);
    }
  });
  const A variance = div(fold(squares, shared[1]), static_cast<A>(g.h));
  return {mean, reciprocal_root(add(variance, static_cast<A>(g.eps)))};
}

/// The weights or biases of a vector's elements; `none` without any.
template <class A, class E>
__device__ void parameters(
    const E* row, A none, std::int64_t i, const cpu::LayerNormArgs<E>& g, A (&p)[kVector<E>]) {
  constexpr int kEach = kVector<E>;
  if (row == nullptr) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) p[k] = none;
  } else if (g.inner == 1) {
    const Vector<E> v = read_vector(row, i, g.h);
#pragma unroll
    for (int k = 0; k < kEach; ++k) p[k] = load(v.e[k]);
  } else {
    std::int64_t channel = i / g.inner, place = i % g.inner;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      p[k] = i + k < g.h ? load(row[channel]) : none;
      if (++place == g.inner) place = 0, ++channel;
    }
  }
}

template <class A, class E, int kThreads, int kKept>
__device__ void write_row(const Row<E, kThreads, kKept>& row,
                          const cpu::LayerNormArgs<E>& g,
                          std::int64_t r,
                          Moments<A> m) {
  constexpr int kEach = kVector<E>;
  const std::int64_t first = r % g.groups * (g.h / g.inner);
  const E* const weights = g.weight == nullptr ? nullptr : g.weight + first;
  const E* const biases = g.bias == nullptr ? nullptr : g.bias + first;
  row.each([&](int, const Vector<E>& x, std::int64_t i) {
    A weight[kEach], bias[kEach];
    parameters(weights, A(1), i, g, weight);
    parameters(biases, A(-0.0), i, g, bias);  // adding -0 changes nothing
    Vector<E> y;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const A t = mul(sub(load(x.e[k]), m.mean), m.rstd);
      store(y.e[k], fma(t, weight[k], bias[k]));
    }
    write_vector(y, g.y + r * g.y_row, i, g.h);
  });
}

/// kThreads threads a row, one row or kRowsOfABlock a block.
template <class E, int kThreads, int kKept>
__global__ void __launch_bounds__(kThreads == kWarp ? kWarp * kRowsOfABlock : kThreads)
    layer_norm_rows(const cpu::LayerNormArgs<E> g) {
  using A = Accumulator<E>;
  __shared__ A shared[2][kLanes];
  const std::int64_t rows = blockDim.x / kThreads;  // of a block
  const int thread = threadIdx.x % kThreads;
  for (std::int64_t r = blockIdx.x * rows + threadIdx.x / kThreads; r < g.rows;
       r += gridDim.x * rows) {
    const Row<E, kThreads, kKept> row(g.x + r * g.x_row, g.h, thread);
    const Moments<A> m = moments<A>(row, g, shared);
    if (thread == 0) {
      if (g.mean != nullptr) store(g.mean[r], m.mean);
      if (g.rstd != nullptr) store(g.rstd[r], m.rstd);
    }
    write_row(row, g, r, m);
    if constexpr (kThreads > kWarp) __syncthreads();  // before `shared` is written again
  }
}

template <class E, int kThreads, int kKept>
void launch_rows(const cpu::LayerNormArgs<E>& g, int rows_of_a_block, const Launch& launch) {
  const std::int64_t blocks = (g.rows + rows_of_a_block - 1) / rows_of_a_block;
  layer_norm_rows<E, kThreads, kKept>
      <<<static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 30)),
         kThreads * rows_of_a_block,
         0,
         launch.stream>>>(g);
  check_launch("layer_norm");
}

}  // namespace

template <class T>
void layer_norm(const cpu::LayerNormArgs<T>& a, const Launch& launch) {
  using E = Element<T>;
  if (a.rows <= 0) return;
  cpu::LayerNormArgs<E> g{device_input(a.x),
                          device_input(a.weight),
                          device_input(a.bias),
                          device_output(a.y),
                          device_output(a.mean),
                          device_output(a.rstd)};
  g.rows = a.rows, g.h = a.h, g.x_row = a.x_row, g.y_row = a.y_row;
  g.eps = a.eps, g.center = a.center, g.groups = a.groups;
  g.inner = std::max<std::int64_t>(a.inner, 1);  // 0 where rows are empty
  constexpr std::int64_t kStep = std::int64_t{kLanes} * kVector<E>;
  constexpr int kKept = 4;
  if (g.h <= kStep / 8 || (g.h <= kStep && g.rows >= kMany)) {
    launch_rows<E, kWarp, kLanes / kWarp>(g, kRowsOfABlock, launch);
  } else if (g.h <= kStep * kKept) {
    launch_rows<E, kLanes, kKept>(g, 1, launch);
  } else {
    launch_rows<E, kLanes, 0>(g, 1, launch);
  }
}

template void layer_norm(const cpu::LayerNormArgs<float>&, const Launch&);
template void layer_norm(const cpu::LayerNormArgs<double>&, const Launch&);
template void layer_norm(const cpu::LayerNormArgs<hwy::bfloat16_t>&, const Launch&);
template void layer_norm(const cpu::LayerNormArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

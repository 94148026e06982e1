#include "reference_kernels/cuda/lanes.cuh"
#include "reference_kernels/cuda/rounded.cuh"
#include "reference_kernels/cuda/softmax.h"

namespace bic::cuda {
namespace {

enum class Result { kSoftmax, kLogSoftmax, kLogSum };

template <class E>
struct Plan {
  const E* x;
  E* y;
  std::int64_t rows, inner, n;
  std::int64_t x_outer, x_reduced, x_inner, y_outer, y_reduced, y_inner;

  __device__ Terms<E> row(std::int64_t i) const {
    return {x + i / inner * x_outer + i % inner * x_inner, x_reduced, n, 0};
  }
  __device__ E* result(std::int64_t i) const {
    return y + i / inner * y_outer + i % inner * y_inner;
  }
};

template <class A>
__device__ A lowest() {
  return -static_cast<A>(INFINITY);
}

template <class A>
struct Larger {
  /// Passes over NaN, which comes in by the sum.
  __device__ A operator()(A a, A b) const { return fmax(a, b); }
};

template <class A>
struct Plus {
  __device__ A operator()(A a, A b) const { return add(a, b); }
};

/// One term of the sum. Of a logsumexp whose maximum is infinite only whether there is a NaN
/// counts.
template <Result result, class A>
__device__ A exponential(A x, A max) {
  if (result == Result::kLogSum && isinf(max)) return isnan(x) ? x : A(0);
  return exp(sub(x, max));
}

template <Result result, class A>
struct AddExponential {
  A max;
  __device__ A operator()(A sum, A x) const { return add(sum, exponential<result>(x, max)); }
};

template <class A>
__device__ A log_of_sum(A sum) {
  return static_cast<A>(log(static_cast<double>(sum)));
}

/// What is left to do with the elements of a row once its maximum and sum are known.
template <Result result, class A>
struct Finish {
  A max, last;
  __device__ Finish(A max, A sum) : max(max), last(sum) {
    if (result == Result::kLogSoftmax) last = log_of_sum(sum);
  }
  __device__ A operator()(A x) const {
    const A d = sub(x, max);
    return result == Result::kSoftmax ? div(exp(d), last) : sub(d, last);
  }
};

template <class A>
__device__ A log_sum(A max, A sum) {
  if (isinf(max)) return isnan(sum) ? sum : max;
  return add(log_of_sum(sum), max);
}

/// A row in the registers of a warp: thread t has vector s * 32 + t as q[s], which is lane s * 32 +
/// t's. Beyond the end are -Inf, which add +0.
template <class E>
struct HeldRow {
  static constexpr int kHeld = kLanes / 32;
  Vector<E> q[kHeld];

  static __device__ std::int64_t first(int s) {
    return (s * 32 + static_cast<int>(threadIdx.x) % 32) * kVector<E>;
  }

  __device__ void read(const Terms<E>& x, std::int64_t n) {
    const bool vectors = x.stride == 1 && is_aligned(x.x);
#pragma unroll
    for (int s = 0; s < kHeld; ++s) {
      if (vectors && first(s) + kVector<E> <= n) {
        q[s] = *reinterpret_cast<const Vector<E>*>(x.x + first(s));
        continue;
      }
#pragma unroll
      for (int k = 0; k < kVector<E>; ++k) {
        store(q[s].e[k], lowest<Accumulator<E>>());
        if (first(s) + k < n) q[s].e[k] = x.x[(first(s) + k) * x.stride];
      }
    }
  }

  /// The fold of add over all elements, lane by lane.
  template <class Add, class Join>
  __device__ Accumulator<E> reduce(std::int64_t n,
                                   Accumulator<E> start,
                                   const Add& add,
                                   const Join& join) const {
    Accumulator<E> lane[kHeld];
#pragma unroll
    for (int s = 0; s < kHeld; ++s) {
      lane[s] = start;
      if (first(s) >= n) continue;
#pragma unroll
      for (int k = 0; k < kVector<E>; ++k) lane[s] = add(lane[s], load(q[s].e[k]));
    }
    return fold_warp(lane, join);
  }
};

/// A vector of a row.
template <Result result, class E>
__device__ void finish_vector(const Plan<E>& p,
                              const Finish<result, Accumulator<E>>& finish,
                              Accumulator<E> (&v)[kVector<E>],
                              std::int64_t r,
                              E* y) {
  const int count = terms_left<E>(r, p.n);
#pragma unroll
  for (int k = 0; k < kVector<E>; ++k) {
    if (k < count) v[k] = finish(v[k]);
  }
  store_terms(v, p.y_reduced, count, y + r * p.y_reduced);
}

template <Result result, class E>
__device__ void softmax_held(const Plan<E>& p, std::int64_t i) {
  using A = Accumulator<E>;
  HeldRow<E> row;
  row.read(p.row(i), p.n);
  const A max = row.reduce(p.n, lowest<A>(), Larger<A>(), Larger<A>());
  const A sum = row.reduce(p.n, A(0), AddExponential<result, A>{max}, Plus<A>());
  E* y = p.result(i);
  if constexpr (result == Result::kLogSum) {
    if (threadIdx.x % 32 == 0) store(*y, log_sum(max, sum));
  } else {
    const Finish<result, A> finish(max, sum);
#pragma unroll
    for (int s = 0; s < row.kHeld; ++s) {
      if (row.first(s) >= p.n) continue;
      A v[kVector<E>];
#pragma unroll
      for (int k = 0; k < kVector<E>; ++k) v[k] = load(row.q[s].e[k]);
      finish_vector(p, finish, v, row.first(s), y);
    }
  }
}

/// A warp to a row of at most kLanes vectors.
template <Result result, class E>
__global__ __launch_bounds__(kBlock) void softmax_short_rows(Plan<E> p) {
  constexpr int kEach = kBlock / 32;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kEach + threadIdx.x / 32;
  for (std::int64_t i = first; i < p.rows; i += static_cast<std::int64_t>(gridDim.x) * kEach) {
    softmax_held<result>(p, i);
  }
}

/// y of the vectors at begin, begin + step, ..., which no other thread reads any more: y may be x.
template <Result result, class E>
__device__ void finish_vectors(const Plan<E>& p,
                               const Terms<E>& x,
                               const Finish<result, Accumulator<E>>& finish,
                               std::int64_t begin,
                               std::int64_t step,
                               E* y) {
  for (std::int64_t r = begin; r < p.n; r += step) {
    Accumulator<E> v[kVector<E>];
    x.get(r, terms_left<E>(r, p.n), v);
    finish_vector(p, finish, v, r, y);
  }
}

/// A block to a row, which is read three times.
template <Result result, class E>
__global__ __launch_bounds__(kBlock) void softmax_long_rows(Plan<E> p) {
  using A = Accumulator<E>;
  __shared__ A shared[kLanes];
  for (std::int64_t i = blockIdx.x; i < p.rows; i += gridDim.x) {
    const Terms<E> x = p.row(i);
    const A max = add_row<kBlock>(x, 0, p.n, lowest<A>(), Larger<A>(), Larger<A>(), shared);
    const A sum =
        add_row<kBlock>(x, 0, p.n, A(0), AddExponential<result, A>{max}, Plus<A>(), shared);
    if constexpr (result == Result::kLogSum) {
      if (threadIdx.x == 0) store(*p.result(i), log_sum(max, sum));
    } else {
      const std::int64_t first = threadIdx.x * kVector<E>;
      const Finish<result, A> finish(max, sum);
      finish_vectors(p, x, finish, first, kBlock * kVector<E>, p.result(i));
    }
  }
}

/// A block to kColumns rows side by side, which are read three times.
template <Result result, class E>
__global__ __launch_bounds__(kBlock) void softmax_columns(Plan<E> p) {
  using A = Accumulator<E>;
  constexpr int kWidth = kColumns<A>, kGroups = kBlock / kWidth;
  __shared__ A shared[kLanes * kWidth];
  const int group = threadIdx.x / kWidth;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kWidth; first < p.rows;
       first += static_cast<std::int64_t>(gridDim.x) * kWidth) {
    const std::int64_t i = first + threadIdx.x % kWidth;
    // Beyond the last row its own elements are added once more: all threads wait for the folds.
    const Terms<E> x = p.row(min(i, p.rows - 1));
    const A max = add_column(x, 0, p.n, lowest<A>(), Larger<A>(), Larger<A>(), shared);
    const A sum = add_column(x, 0, p.n, A(0), AddExponential<result, A>{max}, Plus<A>(), shared);
    if (i >= p.rows) continue;
    if constexpr (result == Result::kLogSum) {
      if (group == 0) store(*p.result(i), log_sum(max, sum));
    } else {
      const std::int64_t begin = group * kVector<E>;
      const Finish<result, A> finish(max, sum);
      finish_vectors(p, x, finish, begin, kGroups * kVector<E>, p.result(i));
    }
  }
}

template <Result result, class T>
void run(const cpu::SoftmaxArgs<T>& g, const Launch& launch) {
  using E = Element<T>;
  const std::int64_t rows = g.outer * g.inner;
  if (rows == 0 || (g.reduced == 0 && result != Result::kLogSum)) return;
  const Plan<E> p{.x = device_input(g.x),
                  .y = device_output(g.y),
                  .rows = rows,
                  .inner = g.inner,
                  .n = g.reduced,
                  .x_outer = g.x_outer,
                  .x_reduced = g.x_reduced,
                  .x_inner = g.x_inner,
                  .y_outer = g.y_outer,
                  .y_reduced = g.y_reduced,
                  .y_inner = g.y_inner};
  cudaStream_t stream = launch.stream;
  if (are_columns(g.x_reduced, g.x_inner, g.inner)) {
    softmax_columns<result><<<blocks_for(rows, kColumns<Accumulator<E>>), kBlock, 0, stream>>>(p);
  } else if (p.n <= kLanes * kVector<E>) {
    softmax_short_rows<result><<<blocks_for(rows, kBlock / 32), kBlock, 0, stream>>>(p);
  } else {
    softmax_long_rows<result><<<blocks_for(rows, 1), kBlock, 0, stream>>>(p);
  }
  check_launch("softmax");
}

}  // namespace

template <class T>
void softmax(const cpu::SoftmaxArgs<T>& args, const Launch& launch) {
  run<Result::kSoftmax>(args, launch);
}
template <class T>
void log_softmax(const cpu::SoftmaxArgs<T>& args, const Launch& launch) {
  run<Result::kLogSoftmax>(args, launch);
}
template <class T>
void logsumexp(const cpu::SoftmaxArgs<T>& args, const Launch& launch) {
  run<Result::kLogSum>(args, launch);
}

#define BIC_SOFTMAX(T)                                                  \
  template void softmax(const cpu::SoftmaxArgs<T>&, const Launch&);     \
  template void log_softmax(const cpu::SoftmaxArgs<T>&, const Launch&); \
  template void logsumexp(const cpu::SoftmaxArgs<T>&, const Launch&);
BIC_SOFTMAX(float)
BIC_SOFTMAX(double)
BIC_SOFTMAX(hwy::bfloat16_t)
BIC_SOFTMAX(hwy::float16_t)
#undef BIC_SOFTMAX

}  // namespace bic::cuda

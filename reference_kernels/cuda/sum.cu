#include <algorithm>

#include "reference_kernels/cuda/lanes.cuh"
#include "reference_kernels/cuda/sum.h"

namespace bic::cuda {
namespace {

using cpu::SumOf;

constexpr std::int64_t kChunk = 8192;  // part of the order: changing it changes the bits

/// One launch: sums of chunks of rows of E, to `partial` or, divided and rounded, to y.
template <class E, class Y>
struct Plan {
  using A = Accumulator<E>;
  const E* x;
  Y* y;
  Y* mean;           ///< or null
  A* partial;        ///< [rows][chunks] where there are chunks, else null
  const A* centers;  ///< [rows], or null where the kernel finds them
  std::int64_t rows, inner, x_outer, x_inner, y_outer, y_inner;
  std::int64_t x_reduced, reduced, x_slow;
  std::int64_t terms, chunk, chunks;
  A divisor;
  bool root;

  __device__ Terms<E> row(std::int64_t i) const {
    return {x + i / inner * x_outer + i % inner * x_inner, x_reduced, reduced, x_slow};
  }

  __device__ void write(std::int64_t i, std::int64_t c, A sum, A center) const {
    if (partial) {
      partial[i * chunks + c] = sum;
      return;
    }
    if (divisor != 1) sum = sum / divisor;
    const std::int64_t at = i / inner * y_outer + i % inner * y_inner;
    store(y[at], root ? sqrt(sum) : sum);
    if (mean) store(mean[at], centers ? centers[i] : center);
  }
};

/// lane + f(x), or lane * x
template <SumOf Of, class A>
struct AddTerm {
  A center;
  __device__ A operator()(A lane, A x) const {
    if constexpr (Of == SumOf::kTerms) return lane + x;
    if constexpr (Of == SumOf::kFactors) return lane * x;
    if constexpr (Of == SumOf::kSizes) return lane + fabs(x);
    const A factor = Of == SumOf::kDeviations ? x - center : x;
    return fma(factor, factor, lane);
  }
};

template <SumOf Of, class A>
struct Join {
  __device__ A operator()(A a, A b) const { return Of == SumOf::kFactors ? a * b : a + b; }
};

/// Sums of one chunk, by `over(start, add, join)`, which takes all its terms.
template <SumOf Of, class E, class Y, class Over>
__device__ void sum_chunk(
    const Plan<E, Y>& p, std::int64_t i, std::int64_t c, bool writes, const Over& over) {
  using A = Accumulator<E>;
  A center = 0;
  if (Of == SumOf::kDeviations) {
    center = p.centers ? p.centers[i]
                       : over(A(0), AddTerm<SumOf::kTerms, A>{}, Join<SumOf::kTerms, A>{}) /
                             static_cast<A>(p.terms);
  }
  const A sum = over(A(Of == SumOf::kFactors), AddTerm<Of, A>{center}, Join<Of, A>{});
  if (writes) p.write(i, c, sum, center);
}

/// A warp or a block to a chunk.
template <int kThreads, SumOf Of, class E, class Y>
__global__ __launch_bounds__(kBlock) void sum_rows(Plan<E, Y> p) {
  using A = Accumulator<E>;
  constexpr int kEach = kBlock / kThreads;
  __shared__ A shared[kThreads == 32 ? 1 : kLanes];
  const std::int64_t items = p.rows * p.chunks;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kEach + threadIdx.x / kThreads;
  for (std::int64_t item = first; item < items;
       item += static_cast<std::int64_t>(gridDim.x) * kEach) {
    const std::int64_t i = item / p.chunks, c = item % p.chunks;
    const std::int64_t begin = c * p.chunk, end = min(begin + p.chunk, p.terms);
    const Terms<E> terms = p.row(i);
    const auto over = [&](A start, const auto& add, const auto& join) {
      return add_row<kThreads>(terms, begin, end, start, add, join, shared);
    };
    sum_chunk<Of>(p, i, c, threadIdx.x % kThreads == 0, over);
  }
}

/// A block to a chunk of kColumns rows side by side.
template <SumOf Of, class E, class Y>
__global__ __launch_bounds__(kBlock) void sum_columns(Plan<E, Y> p) {
  using A = Accumulator<E>;
  __shared__ A shared[kLanes * kColumns<A>];
  const std::int64_t items = (p.rows + kColumns<A> - 1) / kColumns<A> * p.chunks;
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::int64_t c = item % p.chunks;
    const std::int64_t i = item / p.chunks * kColumns<A> + threadIdx.x % kColumns<A>;
    const std::int64_t begin = c * p.chunk, end = min(begin + p.chunk, p.terms);
    // Beyond the last row its own terms are added once more, and not written.
    const std::int64_t row = min(i, p.rows - 1);
    const Terms<E> terms = p.row(row);
    const auto over = [&](A start, const auto& add, const auto& join) {
      return add_column(terms, begin, end, start, add, join, shared);
    };
    sum_chunk<Of>(p, row, c, i < p.rows && threadIdx.x < kColumns<A>, over);
  }
}

/// Fewer than these do not fill the device with a warp to each.
constexpr std::int64_t kManyItems = 2048;
/// Up to these a block has little to do.
constexpr std::int64_t kFewTerms = 1024;

template <SumOf Of, class E, class Y>
void start_rows(const Plan<E, Y>& p, cudaStream_t stream) {
  const std::int64_t items = p.rows * p.chunks;
  if (items >= kManyItems || p.terms <= kFewTerms) {
    sum_rows<32, Of><<<blocks_for(items, kBlock / 32), kBlock, 0, stream>>>(p);
  } else {
    sum_rows<kBlock, Of><<<blocks_for(items, 1), kBlock, 0, stream>>>(p);
  }
  check_launch("sum");
}

template <SumOf Of, class E>
void start(const Plan<E, E>& p, cudaStream_t stream) {
  if (!are_columns(p.x_reduced, p.x_inner, p.inner)) return start_rows<Of>(p, stream);
  constexpr int kWidth = kColumns<Accumulator<E>>;
  const std::int64_t items = (p.rows + kWidth - 1) / kWidth * p.chunks;
  sum_columns<Of><<<blocks_for(items, 1), kBlock, 0, stream>>>(p);
  check_launch("sum");
}

/// The launch that adds the chunks' sums of `p`; its rows lie one after the other.
template <class Y, class E>
Plan<Accumulator<E>, Y> fold_of(const Plan<E, E>& p, Y* y) {
  return {.x = p.partial,
          .y = y,
          .mean = nullptr,
          .partial = nullptr,
          .centers = nullptr,
          .rows = p.rows,
          .inner = p.inner,
          .x_outer = p.inner * p.chunks,
          .x_inner = p.chunks,
          .y_outer = p.inner,
          .y_inner = 1,
          .x_reduced = 1,
          .reduced = p.chunks,
          .x_slow = 0,
          .terms = p.chunks,
          .chunk = p.chunks,
          .chunks = 1,
          .divisor = 1,
          .root = false};
}

template <class E>
Plan<E, E> plan_of(const E* x, E* y, E* mean, std::int64_t terms) {
  const std::int64_t chunks = std::max<std::int64_t>(1, (terms + kChunk - 1) / kChunk);
  Plan<E, E> p{};
  p.x = x, p.y = y, p.mean = mean;
  p.terms = terms, p.chunk = kChunk, p.chunks = chunks;
  return p;
}

template <SumOf Of, class E>
void sum_in_chunks(Plan<E, E> p, cudaStream_t stream, const Launch& launch) {
  using A = Accumulator<E>;
  constexpr SumOf kJoins = Of == SumOf::kFactors ? Of : SumOf::kTerms;
  E* mean = p.mean;
  p.partial = static_cast<A*>(launch.scratch(p.rows * (p.chunks + 1) * sizeof(A)));
  if (Of == SumOf::kDeviations) {
    A* centers = p.partial + p.rows * p.chunks;
    start<SumOf::kTerms>(p, stream);
    auto means = fold_of<A>(p, centers);
    means.divisor = static_cast<A>(p.terms);
    start_rows<SumOf::kTerms>(means, stream);
    p.centers = centers;
  }
  start<Of>(p, stream);
  auto last = fold_of<E>(p, p.y);
  last.y_outer = p.y_outer, last.y_inner = p.y_inner;
  last.divisor = p.divisor, last.root = p.root;
  last.mean = mean, last.centers = p.centers;
  start_rows<kJoins>(last, stream);
}

template <SumOf Of, class T>
void sum_of(const cpu::SumArgs<T>& g, const Launch& launch) {
  auto p = plan_of(device_input(g.x),
                   device_output(g.y),
                   Of == SumOf::kDeviations && g.mean ? device_output(g.mean) : nullptr,
                   g.slow * g.reduced);
  p.rows = g.outer * g.inner, p.inner = g.inner;
  if (p.rows == 0) return;
  p.x_outer = g.x_outer, p.x_inner = g.x_inner, p.y_outer = g.y_outer, p.y_inner = g.y_inner;
  const bool one_axis = g.slow == 1 || g.x_slow == g.reduced * g.x_reduced;
  p.x_reduced = g.x_reduced, p.reduced = one_axis ? p.terms : g.reduced, p.x_slow = g.x_slow;
  p.divisor = static_cast<Accumulator<Element<T>>>(g.divisor), p.root = g.root;
  cudaStream_t stream = launch.stream;
  p.chunks == 1 ? start<Of>(p, stream) : sum_in_chunks<Of>(p, stream, launch);
}

}  // namespace

template <class T>
void sum(const cpu::SumArgs<T>& args, const Launch& launch) {
  switch (args.of) {
    case SumOf::kTerms:
      return sum_of<SumOf::kTerms>(args, launch);
    case SumOf::kSizes:
      return sum_of<SumOf::kSizes>(args, launch);
    case SumOf::kSquares:
      return sum_of<SumOf::kSquares>(args, launch);
    case SumOf::kDeviations:
      return sum_of<SumOf::kDeviations>(args, launch);
    case SumOf::kFactors:
      return sum_of<SumOf::kFactors>(args, launch);
  }
}

template void sum(const cpu::SumArgs<float>&, const Launch&);
template void sum(const cpu::SumArgs<double>&, const Launch&);
template void sum(const cpu::SumArgs<hwy::bfloat16_t>&, const Launch&);
template void sum(const cpu::SumArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

#include "reference_kernels/cpu/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/softmax.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Columns copied together, so that a cache line of x is read once: 64 bytes of the narrowest
/// dtype.
inline constexpr std::int64_t kColumns = 32;

/// A row in a buffer: whole vectors, so that there is no tail.
inline std::int64_t padded(std::int64_t n) { return (n + kSumLanes - 1) / kSumLanes * kSumLanes; }

/// From one row of a buffer to the next: a cache line more, or rows of a power of two would evict
/// one another from L1.
inline std::int64_t row_stride(std::int64_t n) { return padded(n) + kSumLanes; }

enum class Result { kSoftmax, kLogSoftmax, kLogSum };

/// The largest of n numbers in a buffer of padded(n), past NaN; -Inf when there is none.
template <class A>
A largest(const A* row, std::int64_t n) {
  const Wide<A> d;
  auto top = hn::Set(d, -std::numeric_limits<A>::infinity());
  for (std::int64_t i = 0; i < n; i += kWideLanes<A>) {
    const auto x = hn::LoadU(d, row + i);
    top = hn::Max(hn::IfThenElse(hn::IsNaN(x), top, x), top);
  }
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

/// The sum of exp(row[i] - max); with `keep` it overwrites the row with the exponentials. The
/// padding is -Inf, whose exponential adds 0 to the sum. A NaN is passed over by the maximum and
/// comes in by the sum.
template <bool keep, class A>
A sum_exponentials(A* row, std::int64_t n, A largest) {
  const Wide<A> d;
  constexpr std::int64_t kLanes = kWideLanes<A>;
  const auto max = hn::Set(d, largest);
  auto sums = zero_lanes<A>();
  for (std::int64_t i = 0; i < n; i += kSumLanes) {
    for_each<Lanes<A>::kRegs>([&](auto r) BIC_INLINED {
      A* p = row + i + r * kLanes;
      const auto e = exp_nonpositive(d, hn::Sub(hn::LoadU(d, p), max));
      if constexpr (keep) hn::StoreU(e, d, p);
      sums.reg[r] = hn::Add(sums.reg[r], e);
    });
  }
  return fold_lanes(sums);
}

template <class A>
A log_of_sum(A sum) {
  return static_cast<A>(std::log(static_cast<double>(sum)));
}

/// Overwrites `row` with its result; kLogSum with row[0] only.
template <Result result, class A>
void finish_row(A* row, std::int64_t n) {
  const Wide<A> d;
  std::fill(row + n, row + padded(n), -std::numeric_limits<A>::infinity());
  const A max = largest(row, n);
  if (result == Result::kLogSum && std::isinf(max)) {
    row[0] = std::any_of(row, row + n, [](A x) { return x != x; }) ? std::nan("") : max;
    return;
  }
  const A sum = sum_exponentials<result == Result::kSoftmax>(row, n, max);
  if constexpr (result == Result::kLogSum) {
    row[0] = log_of_sum(sum) + max;
    return;
  }
  const auto shift = hn::Set(d, max);
  const auto last = hn::Set(d, result == Result::kSoftmax ? sum : log_of_sum(sum));
  for (std::int64_t i = 0; i < n; i += kWideLanes<A>) {
    const auto x = hn::LoadU(d, row + i);
    const auto y = result == Result::kSoftmax ? hn::Div(x, last) : hn::Sub(hn::Sub(x, shift), last);
    hn::StoreU(y, d, row + i);
  }
}

template <class T>
void load_rows(const SoftmaxArgs<T>& g, const T* x, std::int64_t cols, Acc<T>* rows) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  const std::int64_t n = g.reduced;
  if (cols == 1 && g.x_reduced == 1) {
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) hn::StoreU(load_wide(d, x + i), d, rows + i);
    for (; i < n; ++i) rows[i] = widen(x[i]);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      rows[j * row_stride(n) + i] = widen(x[i * g.x_reduced + j * g.x_inner]);
    }
  }
}

/// `results` are the rows rounded to T, as far apart as `rows`.
template <class T>
void store_rows(const SoftmaxArgs<T>& g, const Acc<T>* rows, std::int64_t cols, T* results, T* y) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  const std::int64_t n = g.reduced, stride = row_stride(n);
  const bool in_place = cols == 1 && g.y_reduced == 1;
  for (std::int64_t c = 0; c < cols; ++c) {
    T* out = in_place ? y : results + c * stride;
    const Acc<T>* row = rows + c * stride;
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store_rounded(d, hn::LoadU(d, row + i), out + i);
    if (i < n) store_some(d, hn::LoadU(d, row + i), out + i, n - i);
  }
  if (in_place) return;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      y[i * g.y_reduced + j * g.y_inner] = results[j * stride + i];
    }
  }
}

/// The sum of exp(x - shift) of columns in a block of n vectors; with `keep` the block becomes the
/// exponentials.
template <bool keep, class A>
WideVec<A> sum_columns(A* block, std::int64_t n, WideVec<A> shift) {
  const Wide<A> d;
  WideVec<A> lane[kSumLanes];
  for (auto& l : lane) l = hn::Zero(d);
  for (std::int64_t i = 0; i < n; ++i) {
    A* p = block + i * kWideLanes<A>;
    const auto e = exp_nonpositive(d, hn::Sub(hn::LoadU(d, p), shift));
    if constexpr (keep) hn::StoreU(e, d, p);
    lane[i % kSumLanes] = hn::Add(lane[i % kSumLanes], e);
  }
  for (int half = kSumLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] = hn::Add(lane[l], lane[l + half]);
  }
  return lane[0];
}

template <class A>
WideVec<A> log_of_sums(WideVec<A> sums) {
  const Wide<A> d;
  alignas(64) A s[kWideLanes<A>];
  hn::Store(sums, d, s);
  for (A& v : s) v = log_of_sum(v);
  return hn::Load(d, s);
}

/// A vector of at most as many columns as it has lanes, each as finish_row does it. `block` has
/// room for a vector a term.
template <Result result, class T>
void finish_columns(const SoftmaxArgs<T>& g, const T* x, std::int64_t cols, Acc<T>* block, T* y) {
  using A = Acc<T>;
  const Wide<A> d;
  constexpr std::int64_t kLanes = kWideLanes<A>;
  auto max = hn::Set(d, -std::numeric_limits<A>::infinity()), nan = hn::Zero(d);
  for (std::int64_t i = 0; i < g.reduced; ++i) {
    const T* p = x + i * g.x_reduced;
    const auto v = cols == kLanes ? load_wide(d, p) : load_some(d, p, cols);
    hn::StoreU(v, d, block + i * kLanes);
    nan = hn::IfThenElse(hn::IsNaN(v), v, nan);
    max = hn::Max(hn::IfThenElse(hn::IsNaN(v), max, v), max);
  }
  const auto sum = sum_columns<result == Result::kSoftmax, A>(block, g.reduced, max);
  const auto last = result == Result::kSoftmax ? sum : log_of_sums<A>(sum);
  if constexpr (result == Result::kLogSum) {
    const auto endless = hn::IfThenElse(hn::IsNaN(nan), nan, max);
    const auto is_endless = hn::Eq(hn::Abs(max), hn::Inf(d));
    T all[kLanes];
    store_rounded(d, hn::IfThenElse(is_endless, endless, hn::Add(last, max)), all);
    for (std::int64_t j = 0; j < cols; ++j) y[j * g.y_inner] = all[j];
    return;
  }
  for (std::int64_t i = 0; i < g.reduced; ++i) {
    const auto v = hn::LoadU(d, block + i * kLanes);
    const auto r = result == Result::kSoftmax ? hn::Div(v, last) : hn::Sub(hn::Sub(v, max), last);
    T* p = y + i * g.y_reduced;
    cols == kLanes ? store_rounded(d, r, p) : store_some(d, r, p, cols);
  }
}

/// Whether one row at a time is read and written along its memory.
template <Result result, class T>
bool along_rows(const SoftmaxArgs<T>& g) {
  return g.x_reduced == 1 && (result == Result::kLogSum || g.y_reduced == 1);
}

/// Whether columns lie side by side, enough of them to fill a vector's larger half.
template <Result result, class T>
bool side_by_side(const SoftmaxArgs<T>& g) {
  return !along_rows<result>(g) && g.x_inner == 1 &&
         (result == Result::kLogSum || g.y_inner == 1) && 2 * g.inner > kWideLanes<Acc<T>>;
}

template <Result result, class T>
void run_block(
    const SoftmaxArgs<T>& g, const T* x, std::int64_t cols, Acc<T>* rows, T* results, T* y) {
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  if (side_by_side<result>(g)) {
    for (std::int64_t j = 0; j < cols; j += kLanes) {
      finish_columns<result>(g, x + j, std::min(kLanes, cols - j), rows, y + j * g.y_inner);
    }
    return;
  }
  const std::int64_t stride = row_stride(g.reduced);
  load_rows(g, x, cols, rows);
  for (std::int64_t c = 0; c < cols; ++c) finish_row<result>(rows + c * stride, g.reduced);
  if constexpr (result != Result::kLogSum) {
    store_rows(g, rows, cols, results, y);
  } else {
    for (std::int64_t c = 0; c < cols; ++c) y[c * g.y_inner] = round_one<T>(rows[c * stride]);
  }
}

template <Result result, class T>
void run(const SoftmaxArgs<T>& g, const ParallelFor& parallel) {
  if (g.reduced == 0 && result != Result::kLogSum) return;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  const std::int64_t least = side_by_side<result>(g) ? kLanes : 1;
  std::int64_t width = along_rows<result>(g) ? 1 : kColumns;
  while (width > least && g.outer * ((g.inner + width - 1) / width) < 16) width /= 2;
  const std::int64_t blocks = (g.inner + width - 1) / width, items = g.outer * blocks;
  const std::int64_t each = items_per_task(items, std::min(width, g.inner) * g.reduced);
  const std::int64_t work = g.outer * g.inner * g.reduced;
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    std::vector<Acc<T>> rows(std::max(least, std::min(width, g.inner)) * row_stride(g.reduced));
    std::vector<T> results(rows.size());
    for (std::int64_t i = begin * each; i < std::min(items, end * each); ++i) {
      const std::int64_t o = i / blocks, j = i % blocks * width;
      run_block<result>(g,
                        g.x + o * g.x_outer + j * g.x_inner,
                        std::min(width, g.inner - j),
                        rows.data(),
                        results.data(),
                        g.y + o * g.y_outer + j * g.y_inner);
    }
  });
}

#define BIC_SOFTMAX(name, result)                                                            \
  void name##_f32(const SoftmaxArgs<float>& g, const ParallelFor& p) { run<result>(g, p); }  \
  void name##_f64(const SoftmaxArgs<double>& g, const ParallelFor& p) { run<result>(g, p); } \
  void name##_bf16(const SoftmaxArgs<hwy::bfloat16_t>& g, const ParallelFor& p) {            \
    run<result>(g, p);                                                                       \
  }                                                                                          \
  void name##_f16(const SoftmaxArgs<hwy::float16_t>& g, const ParallelFor& p) { run<result>(g, p); }
BIC_SOFTMAX(softmax, Result::kSoftmax)
BIC_SOFTMAX(log_softmax, Result::kLogSoftmax)
BIC_SOFTMAX(logsumexp, Result::kLogSum)
#undef BIC_SOFTMAX

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(softmax, SoftmaxArgs)
BIC_CPU_EXPORT(log_softmax, SoftmaxArgs)
BIC_CPU_EXPORT(logsumexp, SoftmaxArgs)
}  // namespace bic::cpu
#endif

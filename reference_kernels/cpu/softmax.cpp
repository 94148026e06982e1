#include "reference_kernels/cpu/softmax.h"

#include <algorithm>
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

/// Overwrites `row`, n numbers in a buffer of padded(n), with its softmax. The padding is -Inf,
/// whose exponential adds 0 to the sum. A NaN is passed over by the maximum and comes in by the
/// sum.
template <class A>
void softmax_row(A* row, std::int64_t n) {
  const Wide<A> d;
  constexpr std::int64_t kLanes = kWideLanes<A>;
  const A lowest = -std::numeric_limits<A>::infinity();
  std::fill(row + n, row + padded(n), lowest);
  auto top = hn::Set(d, lowest);
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const auto x = hn::LoadU(d, row + i);
    top = hn::Max(hn::IfThenElse(hn::IsNaN(x), top, x), top);
  }
  const auto max = hn::MaxOfLanes(d, top);
  auto sums = zero_lanes<A>();
  for (std::int64_t i = 0; i < n; i += kSumLanes) {
    for_each<Lanes<A>::kRegs>([&](auto r) BIC_INLINED {
      A* p = row + i + r * kLanes;
      const auto e = exp_nonpositive(d, hn::Sub(hn::LoadU(d, p), max));
      hn::StoreU(e, d, p);
      sums.reg[r] = hn::Add(sums.reg[r], e);
    });
  }
  const auto sum = hn::Set(d, fold_lanes(sums));
  for (std::int64_t i = 0; i < n; i += kLanes) {
    hn::StoreU(hn::Div(hn::LoadU(d, row + i), sum), d, row + i);
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

template <class T>
void softmax_all(const SoftmaxArgs<T>& g, const ParallelFor& parallel) {
  if (g.reduced == 0) return;
  std::int64_t width = g.x_reduced == 1 && g.y_reduced == 1 ? 1 : kColumns;
  while (width > 1 && g.outer * ((g.inner + width - 1) / width) < 16) width /= 2;
  const std::int64_t blocks = (g.inner + width - 1) / width, items = g.outer * blocks;
  const std::int64_t each = items_per_task(items, std::min(width, g.inner) * g.reduced);
  const std::int64_t work = g.outer * g.inner * g.reduced;
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    const std::int64_t stride = row_stride(g.reduced);
    std::vector<Acc<T>> rows(std::min(width, g.inner) * stride);
    std::vector<T> results(rows.size());
    for (std::int64_t i = begin * each; i < std::min(items, end * each); ++i) {
      const std::int64_t o = i / blocks, j = i % blocks * width;
      const std::int64_t cols = std::min(width, g.inner - j);
      load_rows(g, g.x + o * g.x_outer + j * g.x_inner, cols, rows.data());
      for (std::int64_t c = 0; c < cols; ++c) {
        softmax_row(rows.data() + c * stride, g.reduced);
      }
      store_rows(g, rows.data(), cols, results.data(), g.y + o * g.y_outer + j * g.y_inner);
    }
  });
}

void softmax_f32(const SoftmaxArgs<float>& g, const ParallelFor& p) { softmax_all(g, p); }
void softmax_f64(const SoftmaxArgs<double>& g, const ParallelFor& p) { softmax_all(g, p); }
void softmax_bf16(const SoftmaxArgs<hwy::bfloat16_t>& g, const ParallelFor& p) {
  softmax_all(g, p);
}
void softmax_f16(const SoftmaxArgs<hwy::float16_t>& g, const ParallelFor& p) { softmax_all(g, p); }

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(softmax, SoftmaxArgs)
}  // namespace bic::cpu
#endif

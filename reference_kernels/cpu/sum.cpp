#include "reference_kernels/cpu/sum.h"

#include <algorithm>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/sum.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Columns of one task at most: 16 lanes of them fit L1. No bit depends on it.
inline constexpr std::int64_t kColumns = 128;

template <class T>
Acc<T> finish(const SumArgs<T>& g, Acc<T> sum) {
  return g.mean ? sum / static_cast<Acc<T>>(g.slow * g.reduced) : sum;
}

/// lane[j] += x[j * stride]
template <class T>
void add_row(const T* x, std::int64_t stride, std::int64_t cols, Acc<T>* lane) {
  const Wide<Acc<T>> d;
  std::int64_t j = 0;
  if (stride == 1) {
    for (; j + kWideLanes<Acc<T>> <= cols; j += kWideLanes<Acc<T>>) {
      hn::StoreU(hn::Add(hn::LoadU(d, lane + j), load_wide(d, x + j)), d, lane + j);
    }
  }
  for (; j < cols; ++j) lane[j] += widen(x[j * stride]);
}

/// Outputs [o, j0 .. j0 + cols), cols <= kColumns: a vector of columns, one array of them a lane.
template <class T>
void sum_columns(const SumArgs<T>& g, std::int64_t o, std::int64_t j0, std::int64_t cols) {
  alignas(64) Acc<T> lane[kSumLanes][kColumns];
  for (auto& l : lane) std::fill_n(l, cols, Acc<T>(0));
  std::int64_t r = 0;
  for (std::int64_t s = 0; s < g.slow; ++s) {
    const T* x = g.x + o * g.x_outer + s * g.x_slow + j0 * g.x_inner;
    for (std::int64_t i = 0; i < g.reduced; ++i, ++r) {
      add_row(x + i * g.x_reduced, g.x_inner, cols, lane[r % kSumLanes]);
    }
  }
  for (int half = kSumLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) {
      for (std::int64_t j = 0; j < cols; ++j) lane[l][j] += lane[l + half][j];
    }
  }
  for (std::int64_t j = 0; j < cols; ++j) {
    g.y[o * g.y_outer + (j0 + j) * g.y_inner] = round_one<T>(finish(g, lane[0][j]));
  }
}

/// Output [o, j] whose terms are contiguous, at least `reduced` at a time.
template <class T>
void sum_row(const SumArgs<T>& g, std::int64_t o, std::int64_t j) {
  const T* x = g.x + o * g.x_outer + j * g.x_inner;
  const auto add = [](auto v, auto lane) BIC_INLINED { return hn::Add(lane, v); };
  auto lanes = zero_lanes<Acc<T>>();
  if (g.slow == 1 || g.x_slow == g.reduced) {
    for_lanes(x, g.slow * g.reduced, lanes, Acc<T>(0), add);
  } else {
    for (std::int64_t s = 0; s < g.slow; ++s) {
      for_lanes(x + s * g.x_slow, g.reduced, lanes, Acc<T>(0), add);
    }
  }
  g.y[o * g.y_outer + j * g.y_inner] = round_one<T>(finish(g, fold_lanes(lanes)));
}

/// Whether `sum_row` sees lane 0 at the start of every contiguous piece.
template <class T>
bool sums_along_rows(const SumArgs<T>& g) {
  const bool whole = g.slow == 1 || g.x_slow == g.reduced || g.reduced % kSumLanes == 0;
  return g.x_reduced == 1 && whole && (g.inner == 1 || g.x_inner != 1);
}

template <class T>
void sum_all(const SumArgs<T>& g, const ParallelFor& parallel) {
  const std::int64_t terms = g.slow * g.reduced;
  const bool rows = sums_along_rows(g);
  std::int64_t width = rows ? 1 : kColumns;
  while (width > 16 && g.outer * ((g.inner + width - 1) / width) < 16) width /= 2;
  const std::int64_t blocks = (g.inner + width - 1) / width;
  const std::int64_t items = g.outer * blocks;
  const std::int64_t each = items_per_task(items, std::min(width, g.inner) * terms);
  run_tasks(
      parallel, (items + each - 1) / each, g.outer * g.inner * terms, [&](auto begin, auto end) {
        for (std::int64_t i = begin * each; i < std::min(items, end * each); ++i) {
          const std::int64_t j = i % blocks * width;
          if (rows) {
            sum_row(g, i / blocks, j);
          } else {
            sum_columns(g, i / blocks, j, std::min(width, g.inner - j));
          }
        }
      });
}

void sum_f32(const SumArgs<float>& g, const ParallelFor& p) { sum_all(g, p); }
void sum_f64(const SumArgs<double>& g, const ParallelFor& p) { sum_all(g, p); }
void sum_bf16(const SumArgs<hwy::bfloat16_t>& g, const ParallelFor& p) { sum_all(g, p); }
void sum_f16(const SumArgs<hwy::float16_t>& g, const ParallelFor& p) { sum_all(g, p); }

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(sum, SumArgs)
}  // namespace bic::cpu
#endif

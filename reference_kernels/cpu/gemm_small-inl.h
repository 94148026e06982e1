// gemm for short sums and weights stored [k, n], mostly stacks of small matrices: nothing is packed
// in advance, and the lanes of a sum meet in registers. Compiled once a target; the guard is
// Highway's.
#if defined(BIC_CPU_GEMM_SMALL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_SMALL_INL_H_
#undef BIC_CPU_GEMM_SMALL_INL_H_
#else
#define BIC_CPU_GEMM_SMALL_INL_H_
#endif

#include "reference_kernels/cpu/column_sums-inl.h"
#include "reference_kernels/cpu/tasks.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Rows and vectors of columns of one task; no bit depends on them.
inline constexpr std::int64_t kSmallRows = 32, kSmallVectors = 6;

template <class T>
using SmallOperands = SumOperands<Fused<T>, EvenPlaces>;

/// y[i .. i + Rows, j .. j + cols), at most a vector of columns.
template <int Rows, class T>
HWY_NOINLINE void small_tile(const GemmArgs<T>& g,
                             const SmallOperands<T>& o,
                             std::int64_t i,
                             std::int64_t j,
                             std::int64_t cols) {
  RowSums<Rows, Fused<T>> sum;
  column_sums<Rows, Fused<T>>(o, sum);
  for_each<Rows>([&](auto r) BIC_INLINED { finish(Wide<Acc<T>>(), sum[r], g, i + r, j, cols); });
}

struct SmallA;
struct SmallW;

/// Rows i0 .. i0 + rows of A: where they stand, or widened.
template <class T>
void take_rows(const GemmArgs<T>& g, std::int64_t i0, std::int64_t rows, SmallOperands<T>& o) {
  if constexpr (std::is_same_v<T, Acc<T>>) {
    o.a = g.a + i0 * g.a_row, o.a_row = g.a_row, o.a_word = g.a_k;
  } else {
    const Wide<Acc<T>> d;
    constexpr std::int64_t kVector = kWideLanes<Acc<T>>;
    Acc<T>* copy = scratch<SmallA, Acc<T>>(rows * g.k + 1);
    o.a = copy, o.a_row = g.k, o.a_word = 1;
    for (std::int64_t i = 0; i < rows; ++i, copy += g.k) {
      const T* x = g.a + (i0 + i) * g.a_row;
      std::int64_t k = 0;
      for (; g.a_k == 1 && k + kVector <= g.k; k += kVector) {
        hn::StoreU(load_wide(d, x + k), d, copy + k);
      }
      for (; k < g.k; ++k) copy[k] = widen(x[k * g.a_k]);
    }
  }
}

/// Columns j .. j + cols of W: where they stand, or widened and filled up with zeros.
template <class T>
void take_columns(const GemmArgs<T>& g, std::int64_t j, std::int64_t cols, SmallOperands<T>& o) {
  constexpr std::int64_t kVector = kWideLanes<Acc<T>>;
  const T* w = g.w + j;
  if constexpr (std::is_same_v<T, Acc<T>>) {
    o.w = w, o.places = {g.w_k};
    if (cols >= kVector) return;
  }
  const Wide<Acc<T>> d;
  Acc<T>* copy = scratch<SmallW, Acc<T>>(g.k * kVector + 1);
  o.w = copy, o.places = {kVector};
  for (std::int64_t k = 0; k < g.k; ++k) {
    hn::StoreU(load_columns(d, w + k * g.w_k, cols), d, copy + k * kVector);
  }
}

/// Rows i0 .. i1 and columns j0 .. j1 of one product.
template <class T>
void small_block(
    const GemmArgs<T>& g, std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
  constexpr std::int64_t kVector = kWideLanes<Acc<T>>;
  SmallOperands<T> o{};
  o.words = g.k;
  take_rows(g, i0, i1 - i0, o);
  for (std::int64_t j = j0; j < j1; j += kVector) {
    const std::int64_t cols = std::min(kVector, j1 - j);
    take_columns(g, j, cols, o);
    SmallOperands<T> at = o;
    std::int64_t i = i0;
    for (; i + kSumRows <= i1; i += kSumRows, at.a += kSumRows * o.a_row) {
      small_tile<kSumRows>(g, at, i, j, cols);
    }
    if (i + 2 <= i1) {
      small_tile<2>(g, at, i, j, cols);
      i += 2, at.a += 2 * o.a_row;
    }
    if (i < i1) small_tile<1>(g, at, i, j, cols);
  }
}

/// w_n == 1.
template <class T>
void gemm_small(const GemmArgs<T>& g, const ParallelFor& parallel) {
  constexpr std::int64_t kCols = kSmallVectors * kWideLanes<Acc<T>>;
  const std::int64_t down = (g.m + kSmallRows - 1) / kSmallRows, across = (g.n + kCols - 1) / kCols;
  const std::int64_t items = g.batch * down * across;
  const std::int64_t each =
      items_per_task(items, std::min(g.m, kSmallRows) * std::min(g.n, kCols) * g.k);
  const std::int64_t work = g.batch * g.m * g.n * g.k;
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    for (std::int64_t t = begin * each; t < std::min(items, end * each); ++t) {
      const std::int64_t i = t / across % down * kSmallRows, j = t % across * kCols;
      const auto one = some_batches(g, t / across / down, 1);
      small_block(one, i, std::min(g.m, i + kSmallRows), j, std::min(g.n, j + kCols));
    }
  });
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

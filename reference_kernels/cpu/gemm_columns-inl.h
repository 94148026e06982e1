// gemm for very few rows and weights stored [k, n]: streams W once, in its own order, and keeps the
// lanes of a block of columns in L1. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_COLUMNS_INL_H_
#undef BIC_CPU_GEMM_COLUMNS_INL_H_
#else
#define BIC_CPU_GEMM_COLUMNS_INL_H_
#endif

#include <hwy/cache_control.h>

#include "reference_kernels/cpu/gemm_order-inl.h"
#include "reference_kernels/cpu/tasks.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Most rows of one pass over W, and bytes of accumulators of a lane: 2 x 16 x 512 bytes fit L1.
inline constexpr int kColumnRows = 2;
inline constexpr int kColumnBytes = 512;
/// The fewest columns of a task: two cache lines.
inline constexpr int kFewestColumnBytes = 128;

template <class A>
inline constexpr int kColumnCount = kColumnBytes / sizeof(A);

/// Accumulators as [lane][row][column].
template <int Rows, class A>
using ColumnLanes = A[64 / sizeof(A)][Rows][kColumnCount<A>];

/// lane[i][j] = fma(x[i], w[j], lane[i][j]) for `cols` columns.
template <int Rows, class T>
HWY_INLINE void add_term(const Acc<T>* x,
                         const T* w,
                         std::int64_t cols,
                         Acc<T> (*lane)[kColumnCount<Acc<T>>]) {
  const Wide<Acc<T>> d;
  constexpr int kLanes = kWideLanes<Acc<T>>;
  const auto columns = [&](auto v, std::int64_t j) BIC_INLINED {
    for_each<Rows>([&](auto i) BIC_INLINED {
      Acc<T>* p = lane[i] + j;
      hn::Store(hn::MulAdd(hn::Set(d, x[i]), v, hn::Load(d, p)), d, p);
    });
  };
  std::int64_t j = 0;
  for (; j + kLanes <= cols; j += kLanes) columns(load_wide(d, w + j), j);
  if (j < cols) columns(load_some(d, w + j, cols - j), j);
}

/// Rows [i0, i0 + Rows) x columns [j0, j0 + cols).
template <int Rows, class T>
void column_block(const GemmArgs<T>& g, std::int64_t i0, std::int64_t j0, std::int64_t cols) {
  using A = Acc<T>;
  using Order = ChainOrder<T>;
  const Wide<A> d;
  constexpr int kLanes = kWideLanes<A>, kCount = kColumnCount<A>;
  alignas(64) ColumnLanes<Rows, A> lanes = {};
  const T* w = g.w + j0;
  const std::int64_t lines = (cols * sizeof(T) + 63) / 64;
  for (std::int64_t pair = 0; pair < g.k; pair += Order::kPerLane) {
    const std::int64_t last = std::min(g.k, pair + Order::kPerLane) - 1;
    for (std::int64_t k = last; k >= pair; --k) {  // bf16: the odd term of a lane first
      const T* ahead = w + std::min(g.k - 1, k + kTermsAhead) * g.w_k;
      for (std::int64_t line = 0; line < lines; ++line) {
        hwy::Prefetch(reinterpret_cast<const char*>(ahead) + 64 * line);
      }
      A x[Rows];
      for (int i = 0; i < Rows; ++i) x[i] = widen(g.a[(i0 + i) * g.a_row + k * g.a_k]);
      add_term<Rows>(x, w + k * g.w_k, cols, lanes[Order::lane(k)]);
    }
  }
  alignas(64) A bias[kCount];
  load_bias(g.bias, j0, cols, bias, kCount);
  for (int i = 0; i < Rows; ++i) {
    T* y = g.y + (i0 + i) * g.y_row + j0;
    for (std::int64_t j = 0; j < cols; j += kLanes) {
      for (int half = Order::kLanes / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; ++l) {
          A* p = lanes[l][i] + j;
          hn::Store(hn::Add(hn::Load(d, p), hn::Load(d, lanes[l + half][i] + j)), d, p);
        }
      }
      finish(d, hn::Load(d, lanes[0][i] + j), bias + j, y + j, cols - j);
    }
  }
}

/// w_n == 1 and very few rows.
template <class T>
void gemm_columns(const GemmArgs<T>& g, const ParallelFor& parallel) {
  std::int64_t width = kColumnCount<Acc<T>>;
  while (width > std::int64_t{kFewestColumnBytes / sizeof(Acc<T>)} &&
         g.batch * ((g.n + width - 1) / width) < 16)
    width /= 2;
  const std::int64_t blocks = (g.n + width - 1) / width, items = g.batch * blocks;
  const std::int64_t each = items_per_task(items, width * g.m * g.k);
  run_tasks(
      parallel, (items + each - 1) / each, g.batch * g.m * g.n * g.k, [&](auto begin, auto end) {
        for (std::int64_t t = begin * each; t < std::min(items, end * each); ++t) {
          const auto one = some_batches(g, t / blocks, 1);
          const std::int64_t j = t % blocks * width, cols = std::min(width, g.n - j);
          for (std::int64_t i = 0; i < g.m; i += kColumnRows) {
            if (i + 1 < g.m) {
              column_block<2>(one, i, j, cols);
            } else {
              column_block<1>(one, i, j, cols);
            }
          }
        }
      });
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

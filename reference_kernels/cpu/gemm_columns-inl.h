// gemm for few rows and weights stored [k, n]: W is read where it stands, a lane's rows of it at a
// time, so that no column has to become a row. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_COLUMNS_INL_H_
#undef BIC_CPU_GEMM_COLUMNS_INL_H_
#else
#define BIC_CPU_GEMM_COLUMNS_INL_H_
#endif

#include <hwy/cache_control.h>

#include "reference_kernels/cpu/gemm_packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// The register tile holds as many accumulators as that of gemm_packed, in fewer rows. No bit
// depends on it.
template <int Rows>
inline constexpr int kWideColumns = HWY_MIN(kTileRows* kTileVectors / Rows, 12);
template <int Rows>
inline constexpr int kNarrowColumns = HWY_MIN(kWideColumns<Rows>, 6);
/// Blocks from which on wide ones keep threads busy.
inline constexpr std::int64_t kManyBlocks = 16;
/// Steps along a lane between fetching and use.
inline constexpr std::int64_t kStepsAhead = 8;

/// Rows i0 .. i0 + rows of A, packed in `x`, and columns j0 .. j0 + cols.
template <class T>
struct ColumnBlock {
  const Acc<T>* x;
  std::int64_t lane_stride;
  std::int64_t i0, rows, j0, cols;
};

/// Where vector j of a block begins: the last one of a row is moved back to end with the row, which
/// is at least a vector long.
template <class T>
HWY_INLINE std::int64_t vector_begin(const GemmArgs<T>& g, const ColumnBlock<T>& block, int j) {
  constexpr int kVector = kWideLanes<Acc<T>>;
  return HWY_MIN(j * kVector, g.n - kVector - block.j0);
}

template <int Rows, int Vectors, class T>
using ColumnSums = WideVec<Acc<T>>[Rows][Vectors];

/// One term of every output: acc[i][j] = fma(factors[i], w[begin[j] ..], acc[i][j]). What is
/// fetched is used some steps later.
template <int Rows, int Vectors, bool Last, class T>
HWY_INLINE void column_step(const Acc<T>* factors,
                            const T* w,
                            const T* fetched,
                            const std::int64_t* begin,
                            ColumnSums<Rows, Vectors, T>& acc) {
  const Wide<Acc<T>> d;
  constexpr int kVector = kWideLanes<Acc<T>>;
  const auto load = [&](auto j) BIC_INLINED {
    if constexpr (j * kVector * sizeof(T) % 64 == 0) hwy::Prefetch(fetched + j * kVector);
    return load_wide(d, w + (Last ? begin[j] : j * kVector));
  };
  WideVec<Acc<T>> kept[HWY_MIN(Rows, Vectors)];  // the shorter side; the other passes by
  if constexpr (Rows <= Vectors) {
    for_each<Rows>([&](auto i) BIC_INLINED { kept[i] = hn::Set(d, factors[i]); });
    for_each<Vectors>([&](auto j) BIC_INLINED {
      auto v = load(j);
      keep_in_register(v);
      for_each<Rows>([&](auto i) BIC_INLINED { acc[i][j] = hn::MulAdd(kept[i], v, acc[i][j]); });
    });
  } else {
    for_each<Vectors>([&](auto j) BIC_INLINED {
      kept[j] = load(j);
      keep_in_register(kept[j]);
    });
    for_each<Rows>([&](auto i) BIC_INLINED {
      const auto x = hn::Set(d, factors[i]);
      for_each<Vectors>([&](auto j) BIC_INLINED { acc[i][j] = hn::MulAdd(x, kept[j], acc[i][j]); });
    });
  }
}

/// The n-th lane of a block, and as much of the tree as it completes, as in run_lane.
template <int Rows, int Vectors, bool Last, class T>
HWY_NOINLINE void run_column_lane(const GemmArgs<T>& g,
                                  const ColumnBlock<T>& block,
                                  int n,
                                  Tile<Acc<T>>& tile) {
  using A = Acc<T>;
  using Order = ChainOrder<T>;
  constexpr int kVector = kWideLanes<A>;
  const Wide<A> d;
  ColumnSums<Rows, Vectors, T> acc;
  const auto each = [&](auto f) BIC_INLINED {
    for_each<Rows * Vectors>([&](auto e)
                                 BIC_INLINED { f(acc[e / Vectors][e % Vectors], e * kVector); });
  };
  each([&](auto& sum, int) BIC_INLINED { sum = hn::Zero(d); });
  std::int64_t begin[Vectors];
  for (int j = 0; j < Vectors; ++j) begin[j] = vector_begin(g, block, j);
  const int lane = lane_at<A>(n), next = lane_at<A>((n + 1) % Tile<A>::kLanes);
  const std::int64_t steps = Order::steps(g.k);
  const A* factors = block.x + lane * block.lane_stride;
  for (std::int64_t s = 0; s < steps; ++s) {
    const bool wraps = s + kStepsAhead >= steps;
    const std::int64_t ahead = (s + kStepsAhead - (wraps ? steps : 0)) * Order::kStep +
                               (wraps ? next : lane) * Order::kPerLane;
    for_each<Order::kPerLane>([&](auto t) BIC_INLINED {
      constexpr int kTerm = Order::kPerLane - 1 - t;  // bf16: the odd term of a lane first
      const std::int64_t k = s * Order::kStep + lane * Order::kPerLane + kTerm;
      if (k >= g.k) return;
      const T* w = g.w + k * g.w_k + block.j0;
      const T* fetched = g.w + HWY_MIN(ahead + kTerm, g.k - 1) * g.w_k + block.j0;
      column_step<Rows, Vectors, Last>(
          factors + (s * Order::kPerLane + t) * Rows, w, fetched, begin, acc);
    });
  }
  A* out = tile.level[0];
  for (; n & 1; n >>= 1, out += kTileRows * Tile<A>::kCols) {
    each([&](auto& sum, int at) BIC_INLINED { sum = hn::Add(hn::Load(d, out + at), sum); });
  }
  each([&](auto& sum, int at) BIC_INLINED { hn::Store(sum, d, out + at); });
}

/// Vectors vectors of columns; `Last`, if fewer are left.
template <int Rows, int Vectors, bool Last, class T>
std::int64_t run_columns(const GemmArgs<T>& g, const ColumnBlock<T>& block) {
  using A = Acc<T>;
  const Wide<A> d;
  constexpr int kVector = kWideLanes<A>;
  alignas(64) Tile<A> tile;
  for (int n = 0; n < Tile<A>::kLanes; ++n) {
    run_column_lane<Rows, Vectors, Last>(g, block, n, tile);
  }
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (int j = 0; j < Vectors && j * kVector < block.cols; ++j) {
      const std::int64_t moved = Last ? j * kVector - vector_begin(g, block, j) : 0;
      const A* sum = tile.level[Tile<A>::kLevels] + (i * Vectors + j) * kVector + moved;
      const std::int64_t at = j * kVector;
      finish(d, hn::LoadU(d, sum), g, block.i0 + i, block.j0 + at, block.cols - at);
    }
  }
  return Vectors * kVector;
}

template <int Rows, class T>
void column_block(const GemmArgs<T>& g, ColumnBlock<T> block) {
  constexpr int kVector = kWideLanes<Acc<T>>, kWide = kWideColumns<Rows>,
                kNarrow = kNarrowColumns<Rows>;
  for (std::int64_t done = 0; block.cols > 0; block.j0 += done, block.cols -= done) {
    if (block.cols >= kWide * kVector) {
      done = run_columns<Rows, kWide, false>(g, block);
    } else if (block.cols >= kNarrow * kVector) {
      done = run_columns<Rows, kNarrow, false>(g, block);
    } else if (g.n >= kVector) {
      done = run_columns<Rows, HWY_MIN(kNarrow, 3), true>(g, block);
    } else {
      done = run_columns<Rows, 1, false>(g, block);
    }
  }
}

struct ColumnA;
struct ColumnW;

/// W with rows of a vector, zeros after what is there.
template <class T>
GemmArgs<T> with_whole_rows(const GemmArgs<T>& g) {
  constexpr int kVector = kWideLanes<Acc<T>>;
  T* copy = scratch<ColumnW, T>(g.k * kVector + 1);
  std::memset(static_cast<void*>(copy), 0, g.k * kVector * sizeof(T));
  for (std::int64_t k = 0; k < g.k; ++k) {
    for (std::int64_t j = 0; j < g.n; ++j) copy[k * kVector + j] = g.w[k * g.w_k + j];
  }
  GemmArgs<T> whole = g;
  whole.w = copy, whole.w_k = kVector;
  return whole;
}

/// Packs A, `Rows` rows a tile, and shares the columns of all batches among tasks.
template <int Rows, class T>
void gemm_columns_of(const GemmArgs<T>& g, const ParallelFor& parallel) {
  constexpr std::int64_t kVector = kWideLanes<Acc<T>>, kNarrow = kNarrowColumns<Rows> * kVector;
  const PanelShape<T> shape(g.k, Rows);
  const std::int64_t tiles = (g.m + Rows - 1) / Rows, size = tiles * shape.size();
  const std::int64_t fit = kPackedBytes / (size * static_cast<std::int64_t>(sizeof(Acc<T>))) + 1;
  for (std::int64_t b0 = 0; b0 < g.batch; b0 += fit) {
    const GemmArgs<T> some = some_batches(g, b0, std::min(fit, g.batch - b0));
    std::int64_t width = kWideColumns<Rows> * kVector;
    if (some.batch * ((g.n + width - 1) / width) < kManyBlocks) width = kNarrow;
    const std::int64_t blocks = (g.n + width - 1) / width, items = some.batch * blocks;
    Acc<T>* packed = scratch<ColumnA, Acc<T>>(some.batch * size);
    run_tasks(parallel, some.batch, some.batch * g.m * g.k, [&](auto begin, auto end) {
      for (std::int64_t t = begin * tiles; t < end * tiles; ++t) {
        const std::int64_t i = t % tiles * Rows, rows = std::min<std::int64_t>(Rows, g.m - i);
        const T* a = some.a + t / tiles * g.a_batch + i * g.a_row;
        pack_panel(PanelSource<T>{a, g.a_row, g.a_k, rows}, shape, g.k, packed + t * shape.size());
      }
    });
    const std::int64_t each = items_per_task(items, width * g.m * g.k);
    const std::int64_t work = some.batch * g.m * g.n * g.k;
    run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
      for (std::int64_t t = begin * each; t < std::min(items, end * each); ++t) {
        const std::int64_t b = t / blocks, j = t % blocks * width;
        const auto one = some_batches(some, b, 1);
        const auto read = g.n < kVector ? with_whole_rows(one) : one;
        for (std::int64_t i = 0; i < g.m; i += Rows) {
          column_block<Rows>(read,
                             {packed + (b * tiles + i / Rows) * shape.size(),
                              shape.lane_stride,
                              i,
                              std::min<std::int64_t>(Rows, g.m - i),
                              j,
                              std::min(width, g.n - j)});
        }
      }
    });
  }
}

/// w_n == 1 and few rows.
template <class T>
void gemm_columns(const GemmArgs<T>& g, const ParallelFor& parallel) {
  if (g.m == 1) return gemm_columns_of<1>(g, parallel);
  if (g.m == 2) return gemm_columns_of<2>(g, parallel);
  if (g.m <= 4 || kTileRows == 4) return gemm_columns_of<4>(g, parallel);
  gemm_columns_of<kTileRows>(g, parallel);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

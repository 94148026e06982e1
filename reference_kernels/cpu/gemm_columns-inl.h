// gemm for few rows and weights stored [k, n]: W is read where it stands, a lane's rows of it at a
// time, so that no column has to become a row. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_COLUMNS_INL_H_
#undef BIC_CPU_GEMM_COLUMNS_INL_H_
#else
#define BIC_CPU_GEMM_COLUMNS_INL_H_
#endif

#include <hwy/cache_control.h>

#include "reference_kernels/cpu/gemm_pack-inl.h"
#include "reference_kernels/cpu/tasks.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// The register tile: at most kMostSums accumulators. No bit depends on it.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kMostColumnRows = 8, kMostSums = 24;
#else
inline constexpr int kMostColumnRows = 4, kMostSums = 12;
#endif
template <int Rows>
inline constexpr int kWideColumns = HWY_MIN(kMostSums / Rows, 12);
template <int Rows>
inline constexpr int kNarrowColumns = HWY_MIN(kWideColumns<Rows>, 6);
/// Blocks from which on wide ones keep threads busy.
inline constexpr std::int64_t kManyBlocks = 16;
/// Steps along a lane between fetching and use.
inline constexpr std::int64_t kStepsAhead = 8;

template <class A>
inline constexpr int kSumLevels = sizeof(A) == 8 ? 3 : 4;  ///< of the tree over the lanes

/// Level q holds the sum of 2^q lanes that waits for its partner, the last one the whole sum.
template <class A>
struct SumTree {
  static constexpr int kSize = kMostSums * kWideLanes<A>;
  A level[kSumLevels<A> + 1][kSize];
  A beyond[kWideLanes<A>];  ///< read with the last vector of a row that is moved, and not used
};

/// The n-th lane in the order in which a binary counter combines l with l + kLanes / 2 first.
template <class A>
constexpr int lane_at(int n) {
  constexpr int kReversed[] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  return kReversed[n] >> (4 - kSumLevels<A>);
}

/// Rows i0 .. i0 + rows of A, packed in `x`, and columns j0 .. j0 + cols.
template <class Op>
struct ColumnBlock {
  const typename Op::Word* x;
  std::int64_t lane_stride;
  std::int64_t i0, rows, j0, cols;
};

/// Where vector j of a block begins: the last one of a row is moved back to end with the row, which
/// is at least a vector long.
template <class Op>
HWY_INLINE std::int64_t vector_begin(const GemmArgs<typename Op::In>& g,
                                     const ColumnBlock<Op>& block,
                                     int j) {
  constexpr int kVector = kWideLanes<typename Op::Word>;
  return HWY_MIN(j * kVector, g.n - kVector - block.j0);
}

template <int Rows, int Vectors, class Op>
using ColumnSums = typename Op::V[Rows][Vectors];

/// One word of every output: acc[i][j] = mul_add(factors[i], load(begin of j), acc[i][j]).
template <int Rows, int Vectors, class Op, class Load>
HWY_INLINE void column_step(const typename Op::Word* factors,
                            Load load,
                            ColumnSums<Rows, Vectors, Op>& acc) {
  const Wide<typename Op::Word> d;
  typename Op::V kept[HWY_MIN(Rows, Vectors)];  // the shorter side; the other passes by
  if constexpr (Rows <= Vectors) {
    for_each<Rows>([&](auto i) BIC_INLINED { kept[i] = hn::Set(d, factors[i]); });
    for_each<Vectors>([&](auto j) BIC_INLINED {
      auto v = load(j);
      keep_in_register(v);
      for_each<Rows>([&](auto i) BIC_INLINED { acc[i][j] = Op::mul_add(kept[i], v, acc[i][j]); });
    });
  } else {
    for_each<Vectors>([&](auto j) BIC_INLINED {
      kept[j] = load(j);
      keep_in_register(kept[j]);
    });
    for_each<Rows>([&](auto i) BIC_INLINED {
      const auto x = hn::Set(d, factors[i]);
      for_each<Vectors>([&](auto j)
                            BIC_INLINED { acc[i][j] = Op::mul_add(x, kept[j], acc[i][j]); });
    });
  }
}

/// The n-th lane's chains of a block. What is fetched is used some steps later.
template <int Rows, int Vectors, bool Last, class Op>
HWY_INLINE void add_lane(const GemmArgs<typename Op::In>& g,
                         const ColumnBlock<Op>& block,
                         int n,
                         ColumnSums<Rows, Vectors, Op>& acc) {
  using A = typename Op::Word;
  using T = typename Op::In;
  constexpr int kVector = kWideLanes<A>, kLaneTerms = Op::kWords * Op::kTerms;
  constexpr int kLanes = ChainOrder<T>::kLanes;
  std::int64_t begin[Vectors];
  for (int j = 0; j < Vectors; ++j) begin[j] = vector_begin(g, block, j);
  const int lane = lane_at<A>(n), next = lane_at<A>((n + 1) % kLanes);
  const std::int64_t steps = ChainOrder<T>::steps(g.k);
  const A* factors = block.x + lane * block.lane_stride;
  for (std::int64_t s = 0; s < steps; ++s) {
    const bool wraps = s + kStepsAhead >= steps;
    const std::int64_t ahead = (s + kStepsAhead - (wraps ? steps : 0)) * kStepTerms<Op> +
                               (wraps ? next : lane) * kLaneTerms;
    for_each<Op::kWords>([&](auto word) BIC_INLINED {
      constexpr int kTerm = Op::kWords - 1 - word;  // bf16: the odd term of a lane first
      const std::int64_t k = s * kStepTerms<Op> + lane * kLaneTerms + kTerm;
      if (k >= g.k) return;
      const T* w = g.w + k * g.w_k + block.j0;
      const T* fetched = g.w + HWY_MIN(ahead + kTerm, g.k - Op::kTerms) * g.w_k + block.j0;
      const A* x = factors + (s * Op::kWords + word) * Rows;
      const auto at = [&](auto j) BIC_INLINED { return w + (Last ? begin[j] : j * kVector); };
      if (k + Op::kTerms > g.k) {
        return column_step<Rows, Vectors, Op>(
            x, [&](auto j) BIC_INLINED { return Op::load_last_columns(at(j)); }, acc);
      }
      const auto load = [&](auto j) BIC_INLINED {
        if constexpr (j * kVector * sizeof(T) % 64 == 0) {
          for_each<Op::kTerms>(
              [&](auto t) BIC_INLINED { hwy::Prefetch(fetched + t * g.w_k + j * kVector); });
        }
        return Op::load_columns(at(j), g.w_k);
      };
      column_step<Rows, Vectors, Op>(x, load, acc);
    });
  }
}

/// The n-th lane of a block, and as much of the tree as it completes: a level for every trailing
/// one of n.
template <int Rows, int Vectors, bool Last, class Op>
HWY_NOINLINE void run_column_lane(const GemmArgs<typename Op::In>& g,
                                  const ColumnBlock<Op>& block,
                                  int n,
                                  SumTree<typename Op::Word>& tree) {
  using A = typename Op::Word;
  constexpr int kVector = kWideLanes<A>;
  const Wide<A> d;
  ColumnSums<Rows, Vectors, Op> acc;
  const auto each = [&](auto f) BIC_INLINED {
    for_each<Rows * Vectors>([&](auto e)
                                 BIC_INLINED { f(acc[e / Vectors][e % Vectors], e * kVector); });
  };
  each([&](auto& sum, int) BIC_INLINED { sum = hn::Zero(d); });
  add_lane<Rows, Vectors, Last, Op>(g, block, n, acc);
  A* out = tree.level[0];
  for (; n & 1; n >>= 1, out += SumTree<A>::kSize) {
    each([&](auto& sum, int at) BIC_INLINED { sum = hn::Add(hn::Load(d, out + at), sum); });
  }
  each([&](auto& sum, int at) BIC_INLINED { hn::Store(sum, d, out + at); });
}

/// Vectors vectors of columns; `Last`, if fewer are left.
template <int Rows, int Vectors, bool Last, class Op>
std::int64_t run_columns(const GemmArgs<typename Op::In>& g, const ColumnBlock<Op>& block) {
  using A = typename Op::Word;
  const Wide<A> d;
  constexpr int kVector = kWideLanes<A>;
  alignas(64) SumTree<A> tree;
  for (int n = 0; n < ChainOrder<typename Op::In>::kLanes; ++n) {
    run_column_lane<Rows, Vectors, Last>(g, block, n, tree);
  }
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (int j = 0; j < Vectors && j * kVector < block.cols; ++j) {
      const std::int64_t moved = Last ? j * kVector - vector_begin(g, block, j) : 0;
      const A* sum = tree.level[kSumLevels<A>] + (i * Vectors + j) * kVector + moved;
      const std::int64_t at = j * kVector;
      finish(d, hn::LoadU(d, sum), g, block.i0 + i, block.j0 + at, block.cols - at);
    }
  }
  return Vectors * kVector;
}

template <int Rows, class Op>
void column_block(const GemmArgs<typename Op::In>& g, ColumnBlock<Op> block) {
  constexpr int kVector = kWideLanes<typename Op::Word>, kWide = kWideColumns<Rows>,
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
template <int Rows, class Op>
void gemm_columns_of(const GemmArgs<typename Op::In>& g, const ParallelFor& parallel) {
  using T = typename Op::In;
  using A = typename Op::Word;
  constexpr std::int64_t kVector = kWideLanes<A>, kNarrow = kNarrowColumns<Rows> * kVector;
  const LaneShape<Op> shape(g.k, Rows);
  const std::int64_t tiles = (g.m + Rows - 1) / Rows, size = tiles * shape.size();
  const std::int64_t fit = kPackedBytes / (size * static_cast<std::int64_t>(sizeof(A))) + 1;
  for (std::int64_t b0 = 0; b0 < g.batch; b0 += fit) {
    const GemmArgs<T> some = some_batches(g, b0, std::min(fit, g.batch - b0));
    std::int64_t width = kWideColumns<Rows> * kVector;
    if (some.batch * ((g.n + width - 1) / width) < kManyBlocks) width = kNarrow;
    const std::int64_t blocks = (g.n + width - 1) / width, items = some.batch * blocks;
    A* packed = scratch<ColumnA, A>(some.batch * size);
    run_tasks(parallel, some.batch, some.batch * g.m * g.k, [&](auto begin, auto end) {
      for (std::int64_t t = begin * tiles; t < end * tiles; ++t) {
        const std::int64_t i = t % tiles * Rows, rows = std::min<std::int64_t>(Rows, g.m - i);
        const T* a = some.a + t / tiles * g.a_batch + i * g.a_row;
        pack_by_lane<Op>(g, a, rows, shape, packed + t * shape.size());
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
          column_block<Rows, Op>(read,
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
template <class Op>
void gemm_columns(const GemmArgs<typename Op::In>& g, const ParallelFor& parallel) {
  if (g.m == 1) return gemm_columns_of<1, Op>(g, parallel);
  if (g.m == 2) return gemm_columns_of<2, Op>(g, parallel);
  if (g.m <= 4 || kMostColumnRows == 4) return gemm_columns_of<4, Op>(g, parallel);
  gemm_columns_of<kMostColumnRows, Op>(g, parallel);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

// gemm cut into pieces, blocks of rows and panels of columns for threads and caches. Compiled once
// a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_BLOCKS_INL_H_
#undef BIC_CPU_GEMM_BLOCKS_INL_H_
#else
#define BIC_CPU_GEMM_BLOCKS_INL_H_
#endif

#include "reference_kernels/cpu/gemm_pack-inl.h"
#include "reference_kernels/cpu/tasks.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// No bit depends on these: bytes of packed A that a block has (about half of L2) but for that it
// has kManyRows, for which W is worth fetching; items from which on there are enough for all
// threads, and rows of a block that is made small for their sake.
inline constexpr std::int64_t kBlockBytes = 512 << 10, kManyRows = 32 * kDotRows, kManyItems = 16,
                              kFewRows = 8 * kDotRows;

/// How batches b0 .. b1 and rows m0 .. m1 are cut up. An item is a block of rows and a group of
/// columns of one batch.
template <class Op>
struct BlockPlan {
  Walk<Op> walk;
  std::int64_t b0, b1, m0, m1;
  bool in_place;  ///< whole panels of W are read where they are
  std::int64_t group_cols, groups, block_rows, blocks;

  BlockPlan(const GemmArgs<typename Op::In>& g,
            std::int64_t b0,
            std::int64_t b1,
            std::int64_t m0,
            std::int64_t m1)
      : walk(g.k), b0(b0), b1(b1), m0(m0), m1(m1), in_place(g.w_k == 1) {
    using T = typename Op::In;
    group_cols = g.w_n == 1 && !in_place ? kGroupCols<T> : std::int64_t{kPanelCols};
    groups = (g.n + group_cols - 1) / group_cols;
    const std::int64_t bytes = walk.row_words() * sizeof(typename Op::Word) + 1;
    std::int64_t most = in_place ? std::max(kManyRows, kBlockBytes / bytes) : m1 - m0;
    const std::int64_t wanted = (kManyItems - 1) / ((b1 - b0) * groups) + 1;
    if (wanted > 1) most = std::min(most, std::max(kFewRows, (m1 - m0 + wanted - 1) / wanted));
    blocks = (m1 - m0 + most - 1) / most;
    block_rows = ((m1 - m0 + blocks - 1) / blocks + kDotRows - 1) / kDotRows * kDotRows;
    blocks = (m1 - m0 + block_rows - 1) / block_rows;
  }
  std::int64_t rows(std::int64_t block) const {
    return std::min(block_rows, m1 - m0 - block * block_rows);
  }
  /// Words of packed A before a block.
  std::int64_t at(std::int64_t batch, std::int64_t block) const {
    return (batch * (m1 - m0) + block * block_rows) * walk.row_words();
  }
};

struct PackedA;
struct PackedW;
struct RunningSums;

template <class Op>
void pack_blocks(const GemmArgs<typename Op::In>& g,
                 const BlockPlan<Op>& plan,
                 const ParallelFor& parallel,
                 typename Op::Word* packed) {
  const std::int64_t tiles = (plan.m1 - plan.m0 + kDotRows - 1) / kDotRows;
  const std::int64_t items = (plan.b1 - plan.b0) * tiles, terms = kDotRows * g.k;
  const std::int64_t each = items_per_task(items, terms);
  const std::int64_t work =
      items * terms / 8;  // only for much is waking the threads twice worth it
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    for (std::int64_t t = begin * each; t < std::min(items, end * each); ++t) {
      const std::int64_t b = t / tiles, row = t % tiles * kDotRows, block = row / plan.block_rows;
      const auto* first =
          g.a + (plan.b0 + b) * g.a_batch + (plan.m0 + block * plan.block_rows) * g.a_row;
      pack_tile<Op>(
          g, first, plan.walk, plan.rows(block), row % plan.block_rows, packed + plan.at(b, block));
    }
  });
}

/// A block of rows, packed at `a`, and a group of columns.
template <class Op>
struct Item {
  const typename Op::Word* a;
  std::int64_t i0, rows, j0, cols;
};

/// One part of k: all tiles of a panel of at most kPanelCols columns. A tile fetches a row of the
/// panel after it, if `ahead`.
template <class Op>
void run_part(const GemmArgs<typename Op::In>& g,
              const typename Op::Word* a,
              const Item<Op>& item,
              const Panel<typename Op::In>& panel,
              bool ahead,
              DotPart<typename Op::In> part) {
  using T = typename Op::In;
  constexpr int kSum = ChainOrder<T>::kLanes, kTerms = kStepTerms<Op>;
  for (std::int64_t i = 0; i < item.rows; i += kDotRows) {
    const std::int64_t rows = std::min<std::int64_t>(kDotRows, item.rows - i);
    const std::int64_t fetched = kPanelCols + i / kDotRows;
    const bool fetches = ahead && fetched < 2 * kPanelCols && item.j0 + fetched < g.n;
    for (std::int64_t c = 0; c < item.cols; c += kDotCols) {
      const T* w = panel.w + c * panel.col;
      const T* tail = panel.tail ? panel.tail + c * kTerms : nullptr;
      const Panel<T> some{w, panel.col, panel.step, panel.steps, tail};
      part.next = fetches ? panel.w + fetched * panel.col : w;
      dot_rows<kDotCols, Op>(rows, g, a, some, part, item.i0 + i, item.j0 + c, item.cols - c);
      if (part.running) part.running += kDotRows * kDotCols * kSum;
    }
    a += rows * panel.steps * kStepWords<Op>;
  }
}

/// A block of rows and a panel of columns, part by part of k.
template <class Op>
void run_panel(const GemmArgs<typename Op::In>& g,
               const Walk<Op>& walk,
               const Item<Op>& item,
               const Panel<typename Op::In>& whole,
               bool ahead) {
  using T = typename Op::In;
  constexpr std::int64_t kTile = kDotRows * kPanelCols * ChainOrder<T>::kLanes;
  Acc<T>* running = nullptr;
  if (walk.part < walk.steps) {
    running = scratch<RunningSums, Acc<T>>((item.rows / kDotRows + 1) * kTile);
  }
  for (std::int64_t s = 0; s == 0 || s < walk.steps; s += walk.part) {
    const bool last = s + walk.part >= walk.steps;
    const Panel<T> panel{whole.w + s * whole.step,
                         whole.col,
                         whole.step,
                         walk.length(s),
                         last ? whole.tail : nullptr};
    const typename Op::Word* a = item.a + walk.at(s, item.rows, 0);
    run_part<Op>(g, a, item, panel, ahead, {s == 0, last, running, nullptr});
  }
}

/// One row against less than a panel: read in place, padding it would cost more than the sums.
template <class Op>
void run_few_columns(const GemmArgs<typename Op::In>& g,
                     const Item<Op>& item,
                     Panel<typename Op::In> panel) {
  const DotPart<typename Op::In> all{true, true, nullptr, panel.w};
  for (std::int64_t c = 0, done = 0; c < item.cols; c += done) {
    done = item.cols - c >= 4 ? 4 : 1;
    const auto tile = done == 4 ? &dot_tile<1, 4, Op> : &dot_tile<1, 1, Op>;
    tile(g, item.a, panel, all, item.i0, item.j0 + c, done);
    panel.w += done * panel.col;
    if (panel.tail) panel.tail += done * kStepTerms<Op>;
  }
}

/// At most kPanelCols columns whose terms are contiguous: read where they are.
template <class Op>
void run_in_place(const GemmArgs<typename Op::In>& g, const Walk<Op>& walk, const Item<Op>& item) {
  using T = typename Op::In;
  constexpr std::int64_t kTerms = kStepTerms<Op>;
  const T* w = g.w + item.j0 * g.w_n;
  Panel<T> panel{w, g.w_n, kTerms, walk.steps, nullptr};
  const bool few = item.rows == 1 && item.cols < kPanelCols && walk.part >= walk.steps;
  if (item.cols < kPanelCols && !few) {
    T* copy = scratch<PackedW, T>(kPanelCols * walk.steps * kTerms + 1);
    pack_columns_of_w<Op>(g, w, item.cols, copy);
    return run_panel<Op>(
        g, walk, item, {copy, kTerms, kPanelCols * kTerms, walk.steps, nullptr}, false);
  }
  T tail[kPanelCols * kTerms];
  const std::int64_t full = g.k / kTerms * kTerms, rest = g.k - full;
  if (rest > 0) {
    std::memset(static_cast<void*>(tail), 0, sizeof(tail));
    for (std::int64_t j = 0; j < item.cols; ++j) {
      std::memcpy(static_cast<void*>(tail + j * kTerms), w + j * g.w_n + full, rest * sizeof(T));
    }
    panel.tail = tail;
  }
  if (few) return run_few_columns<Op>(g, item, panel);
  // Few tiles leave the fetching of columns to the hardware.
  run_panel<Op>(g, walk, item, panel, item.rows > kDotRows);
}

/// A group of columns, packed.
template <class Op>
void run_packed(const GemmArgs<typename Op::In>& g, const Walk<Op>& walk, const Item<Op>& item) {
  using T = typename Op::In;
  constexpr std::int64_t kTerms = kStepTerms<Op>;
  const std::int64_t size = kPanelCols * walk.steps * kTerms;
  T* packed = scratch<PackedW, T>(kGroupCols<T> / kPanelCols * size + 1);
  const T* w = g.w + item.j0 * g.w_n;
  if (g.w_n == 1) {
    pack_rows_of_w<Op>(w, g.w_k, item.cols, g.k, packed);
  } else {
    pack_columns_of_w<Op>(g, w, item.cols, packed);
  }
  for (std::int64_t j = 0; j < item.cols; j += kPanelCols, packed += size) {
    const std::int64_t cols = std::min<std::int64_t>(item.cols - j, kPanelCols);
    run_panel<Op>(g,
                  walk,
                  {item.a, item.i0, item.rows, item.j0 + j, cols},
                  {packed, kTerms, kPanelCols * kTerms, walk.steps, nullptr},
                  false);
  }
}

/// Items first .. last, those of a block of rows one after the other.
template <class Op>
void run_items(const GemmArgs<typename Op::In>& g,
               const BlockPlan<Op>& plan,
               const typename Op::Word* packed,
               std::int64_t first,
               std::int64_t last) {
  while (first < last) {
    const std::int64_t row = first / plan.groups, b = row / plan.blocks, block = row % plan.blocks;
    const auto one = some_batches(g, plan.b0 + b, 1);
    const std::int64_t stop = std::min(last, (row + 1) * plan.groups);
    Item<Op> item{packed + plan.at(b, block),
                  plan.m0 + block * plan.block_rows,
                  plan.rows(block),
                  (first - row * plan.groups) * plan.group_cols,
                  0};
    for (; first < stop; ++first, item.j0 += plan.group_cols) {
      item.cols = std::min(plan.group_cols, g.n - item.j0);
      if (plan.in_place) run_in_place<Op>(one, plan.walk, item);
      if (!plan.in_place) run_packed<Op>(one, plan.walk, item);
    }
  }
}

/// One piece: packs its rows of A, then works through the items.
template <class Op>
void run_piece(const GemmArgs<typename Op::In>& g,
               const BlockPlan<Op>& plan,
               const ParallelFor& parallel) {
  using A = typename Op::Word;
  const std::int64_t batches = plan.b1 - plan.b0, rows = plan.m1 - plan.m0;
  A* packed = scratch<PackedA, A>(batches * rows * plan.walk.row_words() + 1);
  pack_blocks<Op>(g, plan, parallel, packed);
  const std::int64_t items = batches * plan.blocks * plan.groups;
  const std::int64_t each = items_per_task(items, plan.block_rows * plan.group_cols * g.k);
  const std::int64_t work = batches * rows * g.n * g.k;
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    run_items<Op>(g, plan, packed, begin * each, std::min(items, end * each));
  });
}

/// Any shape and strides. Works through the batches or the rows in pieces whose packed A fits.
template <class Op>
void gemm_blocks(const GemmArgs<typename Op::In>& g, const ParallelFor& parallel) {
  const std::int64_t row_bytes = Walk<Op>(g.k).row_words() * sizeof(typename Op::Word) + 1;
  const std::int64_t fit =
      std::max<std::int64_t>(1, kPackedBytes / row_bytes / kFewRows) * kFewRows;
  const std::int64_t rows = std::min(g.m, fit), batches = std::max<std::int64_t>(1, fit / g.m);
  for (std::int64_t b = 0; b < g.batch; b += batches) {
    for (std::int64_t i = 0; i < g.m; i += rows) {
      const BlockPlan<Op> plan(g, b, std::min(g.batch, b + batches), i, std::min(g.m, i + rows));
      run_piece<Op>(g, plan, parallel);
    }
  }
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

// gemm for many rows: both operands are packed by lane, so that an ordinary outer-product kernel
// runs one lane's chains of a whole tile of outputs at a time. Compiled once a target.
#if defined(BIC_CPU_GEMM_PACKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_PACKED_INL_H_
#undef BIC_CPU_GEMM_PACKED_INL_H_
#else
#define BIC_CPU_GEMM_PACKED_INL_H_
#endif

#include "reference_kernels/cpu/gemm_order-inl.h"
#include "reference_kernels/cpu/gemm_pack-inl.h"
#include "reference_kernels/cpu/tasks.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// The register tile: kTileRows x kTileVectors accumulators and kTileVectors + 1 operands. No bit
// depends on it, nor on anything else in this file but the tree.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kTileRows = 8;
#else
inline constexpr int kTileRows = 4;
#endif
inline constexpr int kTileVectors = 3;
/// Tiles that share a part of a lane of W while it is in L1, and terms of that part.
inline constexpr int kGroup = 8;
inline constexpr std::int64_t kPart = 128;
inline constexpr int kGroupRows = kGroup * kTileRows;

template <class A>
struct Tile {
  static constexpr int kLanes = 64 / sizeof(A);
  static constexpr int kLevels = sizeof(A) == 8 ? 3 : 4;  ///< of the tree over kLanes lanes
  static constexpr int kVector = kWideLanes<A>;
  static constexpr int kCols = kVector * kTileVectors;
  using Outputs = A[kTileRows * kCols];
  /// Level q holds the sum of 2^q lanes that waits for its partner, the last one the whole sum.
  Outputs level[kLevels + 1];
  Outputs running;  ///< a lane between two of its parts
};

/// The n-th lane in the order in which a binary counter combines l with l + kLanes / 2 first.
template <class A>
constexpr int lane_at(int n) {
  constexpr int kReversed[] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  return kReversed[n] >> (4 - Tile<A>::kLevels);
}

/// Part of the chains of a tile's n-th lane: `length` fused multiply-adds each. The first part
/// starts from +0; the last is followed by as much of the tree as the lane completes, a level for
/// every trailing one of n.
template <class A>
HWY_NOINLINE void run_lane(
    const A* a, const A* b, std::int64_t length, bool first, bool last, int n, Tile<A>& tile) {
  const Wide<A> d;
  constexpr int kVector = Tile<A>::kVector, kCols = Tile<A>::kCols;
  WideVec<A> acc[kTileRows][kTileVectors];
  const auto each = [](auto f) BIC_INLINED {
    for_each<kTileRows>([&](auto i) BIC_INLINED {
      for_each<kTileVectors>([&](auto j) BIC_INLINED { f(i, j, i * kCols + j * kVector); });
    });
  };
  if (first) {
    each([&](auto i, auto j, int) BIC_INLINED { acc[i][j] = hn::Zero(d); });
  } else {
    each([&](auto i, auto j, int at) BIC_INLINED { acc[i][j] = hn::Load(d, tile.running + at); });
  }
  for (std::int64_t p = 0; p < length; ++p, a += kTileRows, b += kCols) {
    WideVec<A> w[kTileVectors];
    for_each<kTileVectors>([&](auto j) BIC_INLINED {
      w[j] = hn::Load(d, b + j * kVector);
      keep_in_register(w[j]);
    });
    for_each<kTileRows>([&](auto i) BIC_INLINED {
      const auto x = hn::Set(d, a[i]);
      for_each<kTileVectors>([&](auto j)
                                 BIC_INLINED { acc[i][j] = hn::MulAdd(x, w[j], acc[i][j]); });
    });
  }
  A* out = last ? tile.level[0] : tile.running;
  for (; last && (n & 1); n >>= 1, out += kTileRows * kCols) {
    each([&](auto i, auto j, int at)
             BIC_INLINED { acc[i][j] = hn::Add(hn::Load(d, out + at), acc[i][j]); });
  }
  each([&](auto i, auto j, int at) BIC_INLINED { hn::Store(acc[i][j], d, out + at); });
}

/// The sums of up to kGroup tiles, by lane, part of the lane, tile.
template <class T>
void run_group(const Acc<T>* a,
               const PanelShape<T>& ashape,
               const Acc<T>* b,
               const PanelShape<T>& bshape,
               int tiles,
               Tile<Acc<T>>* out) {
  const std::int64_t length = ashape.length;
  for (int n = 0; n < Tile<Acc<T>>::kLanes; ++n) {
    const int lane = lane_at<Acc<T>>(n);
    for (std::int64_t p = 0; p == 0 || p < length; p += kPart) {
      const std::int64_t part = std::min(kPart, length - p);
      for (int t = 0; t < tiles; ++t) {
        run_lane(a + lane * ashape.lane_stride + (t * length + p) * kTileRows,
                 b + lane * bshape.lane_stride + p * bshape.width,
                 part,
                 p == 0,
                 p + part == length,
                 n,
                 out[t]);
      }
    }
  }
}

/// How a piece of a packed GEMM is cut up. Packed A is [batch][group][lane][tile][place][row]; a
/// task is `part_groups` groups of one panel of columns of one batch.
template <class T>
struct PackedPlan {
  PanelShape<T> a, w;
  std::int64_t b0, b1, m0, m1;  ///< batches and rows of the piece
  std::int64_t panels, groups, part_groups, parts;

  PackedPlan(
      const GemmArgs<T>& g, std::int64_t b0, std::int64_t b1, std::int64_t m0, std::int64_t m1)
      : a(g.k, kTileRows, kGroup), w(g.k, Tile<Acc<T>>::kCols), b0(b0), b1(b1), m0(m0), m1(m1) {
    panels = (g.n + w.width - 1) / w.width;
    groups = (m1 - m0 + kGroupRows - 1) / kGroupRows;
    const std::int64_t wanted = (kManyTasks + (b1 - b0) * panels - 1) / ((b1 - b0) * panels);
    part_groups = std::max<std::int64_t>(1, groups / wanted);
    parts = (groups + part_groups - 1) / part_groups;
  }
};

/// y[i0 .. i1, j0 .. j0 + kCols) from packed operands, i0 the first row of a group.
template <class T>
void run_panel(const GemmArgs<T>& g,
               const PackedPlan<T>& plan,
               std::int64_t i0,
               std::int64_t i1,
               std::int64_t j0,
               const Acc<T>* a,
               const Acc<T>* w) {
  using A = Acc<T>;
  const Wide<A> d;
  alignas(64) Tile<A> tiles[kGroup];
  for (; i0 < i1; i0 += kGroupRows, a += plan.a.size()) {
    const std::int64_t rows = std::min<std::int64_t>(kGroupRows, i1 - i0);
    run_group(a, plan.a, w, plan.w, static_cast<int>((rows + kTileRows - 1) / kTileRows), tiles);
    for (std::int64_t i = 0; i < rows; ++i) {
      const A* sums = tiles[i / kTileRows].level[Tile<A>::kLevels] + i % kTileRows * Tile<A>::kCols;
      for (int j = 0; j < Tile<A>::kCols; j += Tile<A>::kVector) {
        finish(d, hn::Load(d, sums + j), g, i0 + i, j0 + j, g.n - j0 - j);
      }
    }
  }
}

template <class T>
void pack_rows(const GemmArgs<T>& g,
               const PackedPlan<T>& plan,
               const ParallelFor& parallel,
               Acc<T>* packed) {
  const std::int64_t items = (plan.b1 - plan.b0) * plan.groups, terms = kGroupRows * g.k;
  const std::int64_t each = items_per_task(items, terms);
  run_tasks(parallel, (items + each - 1) / each, items * terms, [&](auto begin, auto end) {
    for (std::int64_t t = begin * each; t < std::min(items, end * each); ++t) {
      const auto one = some_batches(g, plan.b0 + t / plan.groups, 1);
      const std::int64_t first = plan.m0 + t % plan.groups * kGroupRows;
      Acc<T>* out = packed + t * plan.a.size();
      for (std::int64_t i = first; i < std::min(plan.m1, first + kGroupRows); i += kTileRows) {
        const std::int64_t rows = std::min<std::int64_t>(kTileRows, plan.m1 - i);
        pack_panel(PanelSource<T>{one.a + i * g.a_row, g.a_row, g.a_k, rows}, plan.a, g.k, out);
        out += plan.a.length * kTileRows;
      }
    }
  });
}

struct PackedA;
struct PackedW;

/// One piece: packs its rows of A, then in each task a panel of W.
template <class T>
void run_packed(const GemmArgs<T>& g, const PackedPlan<T>& plan, const ParallelFor& parallel) {
  using A = Acc<T>;
  constexpr std::int64_t kCols = Tile<A>::kCols;
  const std::int64_t batches = plan.b1 - plan.b0;
  A* packed = scratch<PackedA, A>(batches * plan.groups * plan.a.size());
  pack_rows(g, plan, parallel, packed);
  const std::int64_t work = batches * (plan.m1 - plan.m0) * g.n * g.k;
  run_tasks(parallel, batches * plan.panels * plan.parts, work, [&](auto begin, auto end) {
    A* w = scratch<PackedW, A>(plan.w.size());
    std::int64_t last = -1;
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t panel = t / plan.parts, b = panel / plan.panels,
                         j = panel % plan.panels * kCols;
      const auto one = some_batches(g, plan.b0 + b, 1);
      if (panel != last) {
        const std::int64_t cols = std::min(kCols, g.n - j);
        pack_panel(PanelSource<T>{one.w + j * g.w_n, g.w_n, g.w_k, cols}, plan.w, g.k, w);
        last = panel;
      }
      const std::int64_t group = t % plan.parts * plan.part_groups;
      const std::int64_t i0 = plan.m0 + group * kGroupRows, i1 = i0 + plan.part_groups * kGroupRows;
      const A* a = packed + (b * plan.groups + group) * plan.a.size();
      run_panel(one, plan, i0, std::min(plan.m1, i1), j, a, w);
    }
  });
}

/// Any shape and strides. Works through the batches or the rows in pieces whose packed A fits.
template <class T>
void gemm_packed(const GemmArgs<T>& g, const ParallelFor& parallel) {
  const std::int64_t group_bytes = PanelShape<T>(g.k, kTileRows, kGroup).size() * sizeof(Acc<T>);
  const std::int64_t groups = (g.m + kGroupRows - 1) / kGroupRows;
  const std::int64_t fit = std::max<std::int64_t>(1, kPackedBytes / group_bytes);
  const std::int64_t rows = std::min(groups, fit) * kGroupRows;
  const std::int64_t batches = std::max<std::int64_t>(1, fit / groups);
  for (std::int64_t b = 0; b < g.batch; b += batches) {
    for (std::int64_t i = 0; i < g.m; i += rows) {
      const PackedPlan<T> plan(g, b, std::min(g.batch, b + batches), i, std::min(g.m, i + rows));
      run_packed(g, plan, parallel);
    }
  }
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

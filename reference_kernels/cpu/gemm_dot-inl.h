// gemm for few rows and weights stored [n, k]: the lanes of a sum are the lanes of registers, and W
// is read where it stands. Compiled once a target.
#if defined(BIC_CPU_GEMM_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_DOT_INL_H_
#undef BIC_CPU_GEMM_DOT_INL_H_
#else
#define BIC_CPU_GEMM_DOT_INL_H_
#endif

#include "reference_kernels/cpu/gemm_order-inl.h"
#include "reference_kernels/cpu/tasks.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// The register tile: rows x columns of 64-byte accumulators. No bit depends on it.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kDotRows = 3, kDotCols = 8, kDotColsOfOneRow = 8;
#elif HWY_TARGET <= HWY_AVX2
inline constexpr int kDotRows = 2, kDotCols = 3, kDotColsOfOneRow = 6;
#else
inline constexpr int kDotRows = 1, kDotCols = 3, kDotColsOfOneRow = 3;
#endif
/// A panel of W serves all rows, so it is as wide as the widest tile.
inline constexpr int kDotPanel = kDotColsOfOneRow;
static_assert(kDotPanel % kDotCols == 0);

template <class A>
inline constexpr int kDotRegs = 64 / sizeof(A) / kWideLanes<A>;

/// What one register of W holds: the terms of a lane in the order in which they are added.
template <class T>
struct DotTerms {
  WideVec<Acc<T>> term[ChainOrder<T>::kPerLane];
};

template <class T>
HWY_INLINE DotTerms<T> load_terms(const T* p) {
  const Wide<Acc<T>> d;
  DotTerms<T> t;
  if constexpr (ChainOrder<T>::kPerLane == 2) {
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto pair = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(p));
    t.term[0] = hn::BitCast(d, hn::And(pair, hn::Set(du, 0xFFFF0000u)));
    t.term[1] = hn::BitCast(d, hn::ShiftLeft<16>(pair));
  } else {
    t.term[0] = load_wide(d, p);
    keep_in_register(t.term[0]);
  }
  return t;
}

/// The tree over the lanes down to 128 bits: l and l + 8, l and l + 4 (double: l and l + 4, l + 2).
template <class V>
HWY_INLINE auto to_quad(V v) {
  const hn::DFromV<V> d;
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<decltype(d)>) <= 16) {
    return v;
  } else {
    const hn::Half<decltype(d)> half;
    return to_quad(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// One sum: the registers of an accumulator to 128 bits.
template <class V>
HWY_INLINE auto quad_of(const V (&reg)[1]) {
  return to_quad(reg[0]);
}
template <class V>
HWY_INLINE auto quad_of(const V (&reg)[2]) {
  return to_quad(hn::Add(reg[0], reg[1]));
}
template <class V>
HWY_INLINE auto quad_of(const V (&reg)[4]) {
  return to_quad(hn::Add(hn::Add(reg[0], reg[2]), hn::Add(reg[1], reg[3])));
}

/// The rest of the tree for four sums (double: two) at once: l and l + 2, l + 1.
template <class Q>
HWY_INLINE Q finish_tree(Q x0, Q x1, [[maybe_unused]] Q x2, [[maybe_unused]] Q x3) {
  const hn::DFromV<Q> d;
  if constexpr (sizeof(hn::TFromD<decltype(d)>) == 8) {
    return hn::Add(hn::InterleaveLower(d, x0, x1), hn::InterleaveUpper(d, x0, x1));
  } else {
    const auto s02 = hn::Add(hn::InterleaveLower(d, x0, x2), hn::InterleaveUpper(d, x0, x2));
    const auto s13 = hn::Add(hn::InterleaveLower(d, x1, x3), hn::InterleaveUpper(d, x1, x3));
    return hn::Add(hn::InterleaveLower(d, s02, s13), hn::InterleaveUpper(d, s02, s13));
  }
}

/// Columns of W in place; `tail`, if any, is the last and partial step of each, padded with zeros.
template <class T>
struct DotPanel {
  const T* w;
  std::int64_t stride, steps;
  const T* tail;
};

template <int Rows, int Cols, class T>
using DotLanes = WideVec<Acc<T>>[Rows][Cols][kDotRegs<Acc<T>>];

/// One step along k: a chain's next term or two in every lane.
template <int Rows, int Cols, class T>
HWY_INLINE void dot_step(const Acc<T>* a,
                         const T* w,
                         std::int64_t stride,
                         DotLanes<Rows, Cols, T>& acc) {
  const Wide<Acc<T>> d;
  constexpr int kRegs = kDotRegs<Acc<T>>, kTerms = ChainOrder<T>::kPerLane,
                kLanes = kWideLanes<Acc<T>>;
  for_each<kRegs>([&](auto r) BIC_INLINED {
    WideVec<Acc<T>> x[Rows][kTerms];
    for_each<Rows * kTerms>([&](auto n) BIC_INLINED {
      constexpr int i = n / kTerms, t = n % kTerms;
      x[i][t] = hn::Load(d, a + ((i * kRegs + r) * kTerms + t) * kLanes);
      if constexpr (kTerms == 1) keep_in_register(x[i][t]);
    });
    for_each<Cols>([&](auto j) BIC_INLINED {
      const auto terms = load_terms(w + j * stride + r * kLanes * kTerms);
      for_each<kTerms * Rows>([&](auto n) BIC_INLINED {
        constexpr int t = n / Rows, i = n % Rows;
        acc[i][j][r] = hn::MulAdd(x[i][t], terms.term[t], acc[i][j][r]);
      });
    });
  });
}

/// y[i0 .. i0 + Rows, j0 .. j0 + Cols) over all of k, of whose columns `cols` exist. `a` is packed
/// [step][row][register][term].
template <int Rows, int Cols, class T>
HWY_NOINLINE void dot_tile(const GemmArgs<T>& g,
                           const Acc<T>* a,
                           const DotPanel<T>& panel,
                           std::int64_t i0,
                           std::int64_t j0,
                           std::int64_t cols) {
  constexpr int kStep = ChainOrder<T>::kStep, kQuad = 16 / sizeof(Acc<T>);
  DotLanes<Rows, Cols, T> acc;
  for_each<Rows * Cols * kDotRegs<Acc<T>>>([&](auto n) BIC_INLINED {
    acc[n / kDotRegs<Acc<T>> / Cols][n / kDotRegs<Acc<T>> % Cols][n % kDotRegs<Acc<T>>] =
        hn::Zero(Wide<Acc<T>>());
  });
  const T* w = panel.w;
  const std::int64_t stride = panel.stride;
  for (std::int64_t s = panel.tail ? panel.steps - 1 : panel.steps; s > 0; --s) {
    dot_step<Rows, Cols, T>(a, w, stride, acc);
    a += Rows * kStep;
    w += kStep;
  }
  if (panel.tail) dot_step<Rows, Cols, T>(a, panel.tail, kStep, acc);
  for_each<Rows>([&](auto i) BIC_INLINED {
    for_each<(Cols + kQuad - 1) / kQuad>([&](auto q) BIC_INLINED {
      constexpr int j = q * kQuad, last = Cols - 1;
      const auto sums = finish_tree(quad_of(acc[i][j]),
                                    quad_of(acc[i][HWY_MIN(j + 1, last)]),
                                    quad_of(acc[i][HWY_MIN(j + 2, last)]),
                                    quad_of(acc[i][HWY_MIN(j + 3, last)]));
      const hn::DFromV<decltype(sums)> d;
      finish(d, sums, g, i0 + i, j0 + j, HWY_MIN(cols, Cols) - j);
    });
  });
}

/// One row of A for `dot_tile`: widened, the terms of each lane in order, zeros in the last step.
template <class T>
void pack_dot_row(const T* x, std::int64_t x_stride, std::int64_t k, int rows, Acc<T>* out) {
  using Order = ChainOrder<T>;
  constexpr int kLanes = kWideLanes<Acc<T>>;
  const std::int64_t steps = Order::steps(k), whole = x_stride == 1 ? k / Order::kStep : 0;
  for (std::int64_t s = 0; s < whole; ++s, out += rows * Order::kStep) {
    for_each<Order::kLanes / kLanes>([&](auto r) BIC_INLINED {
      const auto terms = load_terms(x + s * Order::kStep + r * kLanes * Order::kPerLane);
      for_each<Order::kPerLane>([&](auto t) BIC_INLINED {
        hn::Store(terms.term[t], Wide<Acc<T>>(), out + (r * Order::kPerLane + t) * kLanes);
      });
    });
  }
  for (std::int64_t s = whole; s < steps; ++s, out += rows * Order::kStep) {
    const std::int64_t first = s * Order::kStep,
                       count = std::min<std::int64_t>(k - first, Order::kStep);
    if (count < Order::kStep) std::fill_n(out, Order::kStep, Acc<T>(0));
    for (std::int64_t q = 0; q < count; ++q) {
      const int lane = Order::lane(q), reg = lane / kLanes;
      out[(reg * Order::kPerLane + Order::place(q)) * kLanes + lane % kLanes] =
          widen(x[(first + q) * x_stride]);
    }
  }
}

struct DotA;
struct DotW;

/// Copies terms `from` .. k of `cols` columns to rows of `stride`, zeros after them and in the
/// columns that a panel lacks.
template <class T>
void copy_padded(const GemmArgs<T>& g,
                 const T* w,
                 std::int64_t cols,
                 std::int64_t from,
                 std::int64_t stride,
                 T* copy) {
  std::memset(static_cast<void*>(copy), 0, kDotPanel * stride * sizeof(T));
  for (std::int64_t j = 0; j < cols; ++j) {
    std::memcpy(
        static_cast<void*>(copy + j * stride), w + j * g.w_n + from, (g.k - from) * sizeof(T));
  }
}

/// One row against less than a panel: read in place, padding it would cost more than the sums.
template <class T>
void dot_few_columns(
    const GemmArgs<T>& g, const Acc<T>* a, DotPanel<T> panel, std::int64_t j0, std::int64_t cols) {
  for (std::int64_t c = 0, done = 0; c < cols; c += done) {
    done = cols - c >= 4 ? 4 : 1;
    const auto tile = done == 4 ? &dot_tile<1, 4, T> : &dot_tile<1, 1, T>;
    tile(g, a, panel, 0, j0 + c, done);
    panel.w += done * panel.stride;
    if (panel.tail) panel.tail += done * ChainOrder<T>::kStep;
  }
}

/// All rows against columns j0 .. j0 + cols, cols <= kDotPanel.
template <class T>
void dot_panel(const GemmArgs<T>& g, const Acc<T>* a, std::int64_t j0, std::int64_t cols) {
  constexpr std::int64_t kStep = ChainOrder<T>::kStep;
  const std::int64_t steps = ChainOrder<T>::steps(g.k), row_size = steps * kStep,
                     full = g.k / kStep * kStep;
  DotPanel<T> panel{g.w + j0 * g.w_n, g.w_n, steps, nullptr};
  T tail[kDotPanel * kStep];
  const bool few = g.m == 1 && cols < kDotPanel;
  if (cols < kDotPanel && !few) {
    T* copy = scratch<DotW, T>(kDotPanel * row_size + 1);
    copy_padded(g, panel.w, cols, 0, row_size, copy);
    panel = {copy, row_size, steps, nullptr};
  } else if (full < g.k) {
    copy_padded(g, panel.w, cols, full, kStep, tail);
    panel.tail = tail;
  }
  if (few) return dot_few_columns(g, a, panel, j0, cols);
  if (g.m == 1) return dot_tile<1, kDotColsOfOneRow>(g, a, panel, 0, j0, cols);
  for (int c = 0; c < cols; c += kDotCols) {
    DotPanel<T> part = panel;
    part.w += c * panel.stride;
    if (part.tail) part.tail += c * kStep;
    std::int64_t i = 0;
    for (; i + kDotRows <= g.m; i += kDotRows) {
      dot_tile<kDotRows, kDotCols>(g, a + i * row_size, part, i, j0 + c, cols - c);
    }
    for (; i < g.m; ++i) dot_tile<1, kDotCols>(g, a + i * row_size, part, i, j0 + c, cols - c);
  }
}

/// All rows of all batches, tile by tile.
template <class T>
void pack_dot(const GemmArgs<T>& g, const ParallelFor& parallel, Acc<T>* packed) {
  const std::int64_t row_size = ChainOrder<T>::steps(g.k) * ChainOrder<T>::kStep;
  run_tasks(parallel, g.batch, g.batch * g.m * g.k, [&](auto begin, auto end) {
    for (std::int64_t i = begin * g.m; i < end * g.m; ++i) {
      const std::int64_t row = i % g.m, whole = g.m / kDotRows * kDotRows;
      const int rows = row < whole ? kDotRows : 1;
      Acc<T>* tile = packed + (i - row % rows) * row_size;
      const T* x = g.a + i / g.m * g.a_batch + row * g.a_row;
      pack_dot_row(x, g.a_k, g.k, rows, tile + row % rows * ChainOrder<T>::kStep);
    }
  });
}

/// w_k == 1 and few rows.
template <class T>
void gemm_dot(const GemmArgs<T>& g, const ParallelFor& parallel) {
  const std::int64_t a_size = g.m * ChainOrder<T>::steps(g.k) * ChainOrder<T>::kStep;
  const std::int64_t fit =
      kPackedBytes / (a_size * static_cast<std::int64_t>(sizeof(Acc<T>)) + 1) + 1;
  if (g.batch > fit) {
    for (std::int64_t b = 0; b < g.batch; b += fit) {
      gemm_dot(some_batches(g, b, std::min(fit, g.batch - b)), parallel);
    }
    return;
  }
  Acc<T>* packed = scratch<DotA, Acc<T>>(g.batch * a_size + 1);
  pack_dot(g, parallel, packed);
  const std::int64_t panels = (g.n + kDotPanel - 1) / kDotPanel, items = g.batch * panels;
  const std::int64_t each = items_per_task(items, kDotPanel * g.m * g.k);
  const std::int64_t tasks = (items + each - 1) / each;
  run_tasks(parallel, tasks, g.batch * g.m * g.n * g.k, [&](auto begin, auto end) {
    for (std::int64_t t = begin * each; t < std::min(items, end * each); ++t) {
      const std::int64_t b = t / panels, j = t % panels * kDotPanel;
      const std::int64_t cols = std::min<std::int64_t>(kDotPanel, g.n - j);
      dot_panel(some_batches(g, b, 1), packed + b * a_size, j, cols);
    }
  });
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

// The inner kernel of gemm: the lanes of a sum are the lanes of registers, and A and columns of W
// are read along k. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_DOT_INL_H_
#undef BIC_CPU_GEMM_DOT_INL_H_
#else
#define BIC_CPU_GEMM_DOT_INL_H_
#endif

#include "reference_kernels/cpu/gemm_operand-inl.h"
#include "reference_kernels/cpu/gemm_tree-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// The register tile: rows x columns of 64-byte accumulators. No bit depends on it.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kDotRows = 3, kDotCols = 8;
#elif HWY_TARGET <= HWY_AVX2
inline constexpr int kDotRows = 3, kDotCols = 2;
#else
inline constexpr int kDotRows = 1, kDotCols = 2;
#endif
/// Columns that are read at a time, for all rows.
inline constexpr int kPanelCols = 8;
static_assert(kPanelCols % kDotCols == 0);

/// Columns of W, or a part of them along k: column j begins at w + j * col, step s of it at s *
/// step. `tail`, if any, is the last and partial step, padded with zeros, column j at j * step
/// terms.
template <class T>
struct Panel {
  const T* w;
  std::int64_t col, step, steps;
  const T* tail;
};

/// What a tile does beside the sums: `running` keeps them between the parts of k, and a line a step
/// is fetched from `next` on.
template <class T>
struct DotPart {
  bool first, last;
  Acc<T>* running;
  const T* next;
};

template <int Rows, int Cols, class A>
using DotSums = WideVec<A>[Rows][Cols][kSumRegs<A>];

/// One step along k: every lane's next words.
template <int Rows, int Cols, class Op>
HWY_INLINE void dot_step(const typename Op::Word* a,
                         const typename Op::In* w,
                         std::int64_t col,
                         DotSums<Rows, Cols, typename Op::Word>& acc) {
  using A = typename Op::Word;
  constexpr int kLanes = kWideLanes<A>, kWords = kStepWords<Op> / kLanes;
  for_each<kWords>([&](auto n) BIC_INLINED {
    constexpr int r = n / Op::kWords, word = n % Op::kWords;
    WideVec<A> x[Rows];
    for_each<Rows>([&](auto i) BIC_INLINED {
      x[i] = hn::Load(Wide<A>(), a + i * kStepWords<Op> + n * kLanes);
      keep_in_register(x[i]);
    });
    for_each<Cols>([&](auto j) BIC_INLINED {
      auto y = Op::template load<word>(w + j * col + r * kLanes * Op::kWords * Op::kTerms);
      keep_in_register(y);
      for_each<Rows>([&](auto i)
                         BIC_INLINED { acc[i][j][r] = Op::mul_add(x[i], y, acc[i][j][r]); });
    });
  });
}

template <int Rows, int Cols, class T>
HWY_INLINE void finish_tile(const GemmArgs<T>& g,
                            const DotSums<Rows, Cols, Acc<T>>& acc,
                            std::int64_t i0,
                            std::int64_t j0,
                            std::int64_t cols) {
  for_each<Rows>([&](auto i) BIC_INLINED {
    for_sums(acc[i], [&](auto j, auto sums) BIC_INLINED {
      finish(hn::DFromV<decltype(sums)>(), sums, g, i0 + i, j0 + j, HWY_MIN(cols, Cols) - j);
    });
  });
}

/// y[i0 .. i0 + Rows, j0 .. j0 + Cols) over a part of k; `cols` columns exist. `a` is packed
/// [step][row][register][word].
template <int Rows, int Cols, class Op>
HWY_NOINLINE void dot_tile(const GemmArgs<typename Op::In>& g,
                           const typename Op::Word* a,
                           const Panel<typename Op::In>& panel,
                           const DotPart<typename Op::In>& part,
                           std::int64_t i0,
                           std::int64_t j0,
                           std::int64_t cols) {
  using T = typename Op::In;
  using A = typename Op::Word;
  const Wide<A> d;
  constexpr int kRegs = kSumRegs<A>;
  DotSums<Rows, Cols, A> acc;
  const auto each = [](auto f) BIC_INLINED {
    for_each<Rows * Cols * kRegs>([&](auto n) BIC_INLINED {
      f(Int<n / kRegs / Cols>(), Int<n / kRegs % Cols>(), Int<n % kRegs>(), n * kWideLanes<A>);
    });
  };
  if (part.first) {
    each([&](auto i, auto j, auto r, int) BIC_INLINED { acc[i][j][r] = hn::Zero(d); });
  } else {
    each([&](auto i, auto j, auto r, int at)
             BIC_INLINED { acc[i][j][r] = hn::Load(d, part.running + at); });
  }
  const T *w = panel.w, *next = part.next;
  const std::int64_t col = panel.col, step = panel.step;
  for (std::int64_t s = panel.tail ? panel.steps - 1 : panel.steps; s > 0; --s) {
    __builtin_prefetch(next, 0, 2);  // to L2: L1 is full
    dot_step<Rows, Cols, Op>(a, w, col, acc);
    a += Rows * kStepWords<Op>;
    w += step;
    next += kStepTerms<Op>;
  }
  if (panel.tail) dot_step<Rows, Cols, Op>(a, panel.tail, kStepTerms<Op>, acc);
  if (!part.last) {
    return each([&](auto i, auto j, auto r, int at)
                    BIC_INLINED { hn::Store(acc[i][j][r], d, part.running + at); });
  }
  finish_tile<Rows, Cols>(g, acc, i0, j0, cols);
}

/// Up to kDotRows rows.
template <int Cols, class Op, class... Args>
HWY_INLINE void dot_rows(std::int64_t rows, const Args&... args) {
  if constexpr (kDotRows == 3) {
    if (rows == 3) return dot_tile<3, Cols, Op>(args...);
    if (rows == 2) return dot_tile<2, Cols, Op>(args...);
  }
  dot_tile<1, Cols, Op>(args...);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

// Packing of the operands of gemm. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_PACK_INL_H_
#undef BIC_CPU_GEMM_PACK_INL_H_
#else
#define BIC_CPU_GEMM_PACK_INL_H_
#endif

#include "reference_kernels/cpu/gemm_dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Steps along k that a panel of W stays in L1 for, about: 16 KB of it.
inline constexpr std::int64_t kPartSteps = 128;

/// How k is walked: in equal parts, each over all rows of a block.
template <class Op>
struct Walk {
  std::int64_t steps, part;  ///< of all of k; of one part, at least 1

  explicit Walk(std::int64_t k) : steps(ChainOrder<typename Op::In>::steps(k)) {
    const std::int64_t parts = std::max<std::int64_t>(1, (steps + kPartSteps / 2) / kPartSteps);
    part = std::max<std::int64_t>(1, (steps + parts - 1) / parts);
  }
  std::int64_t length(std::int64_t first) const { return std::min(part, steps - first); }
  std::int64_t row_words() const { return steps * kStepWords<Op>; }
  /// Where the tile of row i begins in a packed block of `rows`, [part][tile][step][row]; the part
  /// begins at step `first`.
  std::int64_t at(std::int64_t first, std::int64_t rows, std::int64_t i) const {
    return (first * rows + i * length(first)) * kStepWords<Op>;
  }
};

/// Rows i .. i + kDotRows of a block of A.
template <class Op>
void pack_tile(const GemmArgs<typename Op::In>& g,
               const typename Op::In* block,
               const Walk<Op>& walk,
               std::int64_t rows,
               std::int64_t i,
               typename Op::Word* packed) {
  const std::int64_t count = std::min<std::int64_t>(kDotRows, rows - i);
  for (std::int64_t r = 0; r < count; ++r) {
    for_steps<Op>(
        block + (i + r) * g.a_row, g.a_k, g.k, [&](std::int64_t s, const auto* terms) BIC_INLINED {
          const std::int64_t first = s - s % walk.part;
          const std::int64_t step = (s - first) * count + r;
          store_words<Op>(terms, packed + walk.at(first, rows, i) + step * kStepWords<Op>);
        });
  }
}

/// Words of a row of A one lane after the other, [lane][place][row] for `width` rows. A cache line
/// lies between the lanes: a power of two apart, they would evict one another from L1.
template <class Op>
struct LaneShape {
  std::int64_t width, lane_stride;
  LaneShape(std::int64_t k, std::int64_t width)
      : width(width),
        lane_stride(ChainOrder<typename Op::In>::steps(k) * Op::kWords * width +
                    64 / sizeof(typename Op::Word)) {}
  std::int64_t size() const { return ChainOrder<typename Op::In>::kLanes * lane_stride; }
};

/// Up to `shape.width` rows of A; the rows that lack are zeros.
template <class Op>
void pack_by_lane(const GemmArgs<typename Op::In>& g,
                  const typename Op::In* a,
                  std::int64_t rows,
                  const LaneShape<Op>& shape,
                  typename Op::Word* out) {
  using A = typename Op::Word;
  constexpr int kLanes = kWideLanes<A>;
  if (rows < shape.width) std::fill_n(out, shape.size(), A(0));
  for (std::int64_t i = 0; i < rows; ++i) {
    for_steps<Op>(a + i * g.a_row, g.a_k, g.k, [&](std::int64_t s, const auto* terms) BIC_INLINED {
      alignas(64) A words[kStepWords<Op>];
      store_words<Op>(terms, words);
      for_each<kStepWords<Op>>([&](auto n) BIC_INLINED {
        constexpr int lane = n / kLanes / Op::kWords * kLanes + n % kLanes;
        constexpr int word = n / kLanes % Op::kWords;
        out[lane * shape.lane_stride + (s * Op::kWords + word) * shape.width + i] = words[n];
      });
    });
  }
}

/// Columns that are packed together: a cache line of each row of W.
template <class T>
inline constexpr std::int64_t kGroupCols = 64 / sizeof(T);

/// kB rows of vectors to columns: afterwards 16-byte block b of v[i] holds column b * kB + i.
template <int kB, class D, class V>
HWY_INLINE void transpose_blocks(D d, V (&v)[kB]) {
  for (int round = 1; round < kB; round *= 2) {
    V t[kB];
    for_each<kB / 2>([&](auto i) BIC_INLINED {
      t[2 * i] = hn::InterleaveLower(d, v[i], v[i + kB / 2]);
      t[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kB / 2]);
    });
    for_each<kB>([&](auto i) BIC_INLINED { v[i] = t[i]; });
  }
}

/// f(b, the b-th 16-byte block of v), from block `first` on.
template <class V, class F>
HWY_INLINE void for_blocks(V v, int first, F f) {
  const hn::DFromV<V> d;
  constexpr int kBlocks = hn::MaxLanes(d) * sizeof(hn::TFromV<V>) / 16;
  if constexpr (kBlocks <= 1) {
    f(first, v);
  } else {
    const hn::Half<decltype(d)> half;
    for_blocks(hn::LowerHalf(half, v), first, f);
    for_blocks(hn::UpperHalf(half, v), first + kBlocks / 2, f);
  }
}

/// 16 bytes of k, from term q on, of kGroupCols columns: p is the first row of W. Panels of W are
/// [panel][step][column][term], `panel` elements each.
template <class U, int kStep>
HWY_INLINE void pack_block(
    const U* p, std::int64_t row, std::int64_t panel, std::int64_t q, U* out) {
  constexpr int kB = 16 / sizeof(U);
  const hn::CappedTag<U, 64 / sizeof(U)> d;
  constexpr int kLanes = hn::MaxLanes(d);
  U* o = out + q / kStep * kPanelCols * kStep + q % kStep;
  for_each<64 / sizeof(U) / kLanes>([&](auto part) BIC_INLINED {
    constexpr int c = part * kLanes;
    hn::Vec<decltype(d)> v[kB];
    for_each<kB>([&](auto i) BIC_INLINED { v[i] = hn::LoadU(d, p + i * row + c); });
    transpose_blocks<kB>(d, v);
    for_each<kB>([&](auto i) BIC_INLINED {
      for_blocks(v[i], 0, [&](int b, auto x) BIC_INLINED {
        const int j = c + b * kB + i;
        hn::StoreU(
            x, hn::DFromV<decltype(x)>(), o + j / kPanelCols * panel + j % kPanelCols * kStep);
      });
    });
  });
}

/// Up to kGroupCols columns that are contiguous.
template <class Op>
void pack_rows_of_w(const typename Op::In* w,
                    std::int64_t row,
                    std::int64_t cols,
                    std::int64_t k,
                    typename Op::In* out) {
  using T = typename Op::In;
  using U = hwy::UnsignedFromSize<sizeof(T)>;
  constexpr std::int64_t kB = 16 / sizeof(T), kGroup = kGroupCols<T>, kAhead = 8 * kB;
  constexpr int kStep = kStepTerms<Op>;
  const std::int64_t padded = ChainOrder<T>::steps(k) * kStep, panel = padded * kPanelCols;
  const U* src = reinterpret_cast<const U*>(w);
  U* to = reinterpret_cast<U*>(out);
  for (std::int64_t q = 0; q < padded; q += kB, src += kB * row) {
    if (q + kB <= k && cols == kGroup) {
      for (std::int64_t i = 0; i < kB && q + kAhead + kB <= k; ++i) {
        __builtin_prefetch(src + (kAhead + i) * row, 0, 2);
      }
      pack_block<U, kStep>(src, row, panel, q, to);
    } else {
      U edge[kB * kGroup] = {};
      for (std::int64_t i = 0; i < std::min(kB, k - q); ++i) {
        std::memcpy(edge + i * kGroup, src + i * row, cols * sizeof(U));
      }
      pack_block<U, kStep>(edge, kGroup, panel, q, to);
    }
  }
}

/// Up to kPanelCols columns of any strides.
template <class Op>
void pack_columns_of_w(const GemmArgs<typename Op::In>& g,
                       const typename Op::In* w,
                       std::int64_t cols,
                       typename Op::In* out) {
  using T = typename Op::In;
  constexpr std::int64_t kTerms = kStepTerms<Op>;
  for (std::int64_t j = 0; j < kPanelCols; ++j) {
    const T* column = w + std::min(j, cols - 1) * g.w_n;
    for_steps<Op>(column, g.w_k, g.k, [&](std::int64_t s, const T* terms) BIC_INLINED {
      T* to = out + (s * kPanelCols + j) * kTerms;
      std::memcpy(static_cast<void*>(to), terms, kTerms * sizeof(T));
    });
  }
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

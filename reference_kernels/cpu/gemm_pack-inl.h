// Packing of either operand of gemm by lane. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_PACK_INL_H_
#undef BIC_CPU_GEMM_PACK_INL_H_
#else
#define BIC_CPU_GEMM_PACK_INL_H_
#endif

#include <hwy/cache_control.h>

#include "reference_kernels/cpu/gemm_order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// A packed panel: `width` rows of A, or columns of W, widened, as [lane][place][width].
template <class T>
struct PanelShape {
  std::int64_t length, width;
  std::int64_t lane_stride;  ///< from one lane to the next; room for other panels is in between

  /// `panels` lie side by side in each lane, and one more cache line: lanes a power of two apart
  /// would evict one another from L1.
  PanelShape(std::int64_t k, std::int64_t width, std::int64_t panels = 1)
      : length(ChainOrder<T>::length(k)),
        width(width),
        lane_stride(panels * length * width + 64 / sizeof(Acc<T>)) {}
  std::int64_t size() const { return ChainOrder<T>::kLanes * lane_stride; }
  /// Offset of term k.
  std::int64_t at(std::int64_t k) const {
    return ChainOrder<T>::lane(k) * lane_stride + ChainOrder<T>::place(k) * width;
  }
};

/// `count` rows of A (columns of W) `stride` apart, whose terms are `k_stride` apart.
template <class T>
struct PanelSource {
  const T* p;
  std::int64_t stride, k_stride, count;
};

/// 128 bits of accumulators: the unit of transposition.
template <class A>
using Quad = hn::CappedTag<A, 16 / sizeof(A)>;

/// Rows i .. i + 4 (double: i + 2) and as many terms from k on, which begins a step: Q is the place
/// of the terms in it, a constant like all that is derived from it. `out` is where the step begins.
template <int Q, class T>
HWY_INLINE void transpose_quad(const T* p,
                               std::int64_t stride,
                               const PanelShape<T>& shape,
                               Acc<T>* out) {
  using A = Acc<T>;
  const Quad<A> d;
  const auto at = [&](int q) BIC_INLINED {
    return out + ChainOrder<T>::lane(Q + q) * shape.lane_stride +
           ChainOrder<T>::place(Q + q) * shape.width;
  };
  if constexpr (sizeof(A) == 8) {
    const auto x = load_wide(d, p + Q), y = load_wide(d, p + Q + stride);
    hn::StoreU(hn::InterleaveLower(d, x, y), d, at(0));
    hn::StoreU(hn::InterleaveUpper(d, x, y), d, at(1));
  } else {
    const auto x0 = load_wide(d, p + Q), x1 = load_wide(d, p + Q + stride);
    const auto x2 = load_wide(d, p + Q + 2 * stride), x3 = load_wide(d, p + Q + 3 * stride);
    const auto low02 = hn::InterleaveLower(d, x0, x2), low13 = hn::InterleaveLower(d, x1, x3);
    const auto high02 = hn::InterleaveUpper(d, x0, x2), high13 = hn::InterleaveUpper(d, x1, x3);
    hn::StoreU(hn::InterleaveLower(d, low02, low13), d, at(0));
    hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, at(1));
    hn::StoreU(hn::InterleaveLower(d, high02, high13), d, at(2));
    hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, at(3));
  }
}

/// Terms 0 .. k of rows that are contiguous in k. A step of some rows, which is a cache line of
/// each, then of the next rows.
template <class T>
void pack_transposed(const PanelSource<T>& src,
                     const PanelShape<T>& shape,
                     std::int64_t k,
                     Acc<T>* out) {
  using Order = ChainOrder<T>;
  constexpr std::int64_t kQuad = 16 / sizeof(Acc<T>);
  const std::int64_t whole = src.count / kQuad * kQuad, full = k / Order::kStep;
  for (std::int64_t s = 0; s < full; ++s) {
    for (std::int64_t i = 0; i < whole; i += kQuad) {
      const T* p = src.p + i * src.stride + s * Order::kStep;
      Acc<T>* o = out + s * Order::kPerLane * shape.width + i;
      for_each<Order::kStep / kQuad>(
          [&](auto q) BIC_INLINED { transpose_quad<q * kQuad>(p, src.stride, shape, o); });
    }
  }
  for (std::int64_t i = 0; i < src.count; ++i) {
    for (std::int64_t q = i < whole ? full * Order::kStep : 0; q < k; ++q) {
      out[shape.at(q) + i] = widen(src.p[i * src.stride + q]);
    }
  }
}

/// Terms 0 .. k of columns that are contiguous, or of any strides.
template <class T>
void pack_by_term(const PanelSource<T>& src,
                  const PanelShape<T>& shape,
                  std::int64_t k,
                  Acc<T>* out) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kVector = kWideLanes<Acc<T>>;
  for (std::int64_t q = 0; q < k; ++q) {
    const T* p = src.p + q * src.k_stride;
    if (q + kTermsAhead < k) hwy::Prefetch(p + kTermsAhead * src.k_stride);
    if (q + kTermsAhead < k) hwy::Prefetch(p + kTermsAhead * src.k_stride + src.count - 1);
    Acc<T>* o = out + shape.at(q);
    std::int64_t i = 0;
    if (src.stride == 1) {
      for (; i + kVector <= src.count; i += kVector) hn::StoreU(load_wide(d, p + i), d, o + i);
    }
    for (; i < src.count; ++i) o[i] = widen(p[i * src.stride]);
  }
}

/// Widens and packs k = `terms` of them; zeros fill the panel's width and the last step.
template <class T>
void pack_panel(const PanelSource<T>& src,
                const PanelShape<T>& shape,
                std::int64_t k,
                Acc<T>* out) {
  const bool narrow = src.count < shape.width, partial = k % ChainOrder<T>::kStep != 0;
  const std::int64_t filled = narrow ? shape.length : partial ? ChainOrder<T>::kPerLane : 0;
  for (int lane = 0; filled > 0 && lane < ChainOrder<T>::kLanes; ++lane) {
    Acc<T>* end = out + lane * shape.lane_stride + shape.length * shape.width;
    std::fill_n(end - filled * shape.width, filled * shape.width, Acc<T>(0));
  }
  if (src.k_stride == 1 && src.stride != 1) {
    pack_transposed(src, shape, k, out);
  } else {
    pack_by_term(src, shape, k, out);
  }
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

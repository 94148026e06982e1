// The tree over the lanes of gemm's sums, several sums at once. Compiled once a target; the guard
// is Highway's.
#if defined(BIC_CPU_GEMM_TREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_TREE_INL_H_
#undef BIC_CPU_GEMM_TREE_INL_H_
#else
#define BIC_CPU_GEMM_TREE_INL_H_
#endif

#include "reference_kernels/cpu/gemm_order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Registers of one sum's 64 bytes of accumulators.
template <class A>
inline constexpr int kSumRegs = 64 / sizeof(A) / kWideLanes<A>;

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

#if HWY_TARGET <= HWY_AVX3
/// One level of the tree for two registers: their halves, 128-bit blocks, 64-bit parts.
template <class V>
HWY_INLINE V fold_halves(V x, V y) {
  const hn::DFromV<V> d;
  return hn::Add(hn::ConcatUpperLower(d, y, x), hn::ConcatLowerUpper(d, y, x));
}
template <class V>
HWY_INLINE V fold_blocks(V x, V y) {
  return hn::Add(hn::OddEvenBlocks(y, x), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(x, y)));
}
template <class V>
HWY_INLINE V fold_parts(V x, V y) {
  const hn::DFromV<V> d;
  const hn::Repartition<double, decltype(d)> d64;
  const auto p = hn::BitCast(d64, x), q = hn::BitCast(d64, y);
  return hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, p, q)),
                 hn::BitCast(d, hn::InterleaveUpper(d64, p, q)));
}

/// The sums of eight whole registers, in order: a third of the instructions of single trees.
template <class V>
HWY_INLINE auto sums_of_8(V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  const V even = fold_blocks(fold_halves(v0, v4), fold_halves(v2, v6));
  const V odd = fold_blocks(fold_halves(v1, v5), fold_halves(v3, v7));
  const V r = fold_parts(even, odd);
  const hn::DFromV<V> d;
  if constexpr (sizeof(hn::TFromD<decltype(d)>) == 8) {
    return r;
  } else {
    return hn::LowerHalf(hn::Half<decltype(d)>(),
                         hn::Add(hn::ConcatEven(d, r, r), hn::ConcatOdd(d, r, r)));
  }
}
#endif

/// Calls store(j, sums) with the sums of adjacent columns from j on.
template <int Cols, class V, int Regs, class Store>
HWY_INLINE void for_sums(const V (&acc)[Cols][Regs], Store store) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (Cols == 8) {
    const auto& v = acc;
    return store(Int<0>(),
                 sums_of_8(v[0][0], v[1][0], v[2][0], v[3][0], v[4][0], v[5][0], v[6][0], v[7][0]));
  }
#endif
  constexpr int kQuad = 16 / sizeof(hn::TFromV<V>), kLast = Cols - 1;
  for_each<(Cols + kQuad - 1) / kQuad>([&](auto q) BIC_INLINED {
    constexpr int j = q * kQuad;
    store(Int<j>(),
          finish_tree(quad_of(acc[j]),
                      quad_of(acc[HWY_MIN(j + 1, kLast)]),
                      quad_of(acc[HWY_MIN(j + 2, kLast)]),
                      quad_of(acc[HWY_MIN(j + 3, kLast)])));
  });
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

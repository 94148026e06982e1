// What the lanes of gemm multiply: words of operands as they stand in registers and in packed
// memory. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_OPERAND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_OPERAND_INL_H_
#undef BIC_CPU_GEMM_OPERAND_INL_H_
#else
#define BIC_CPU_GEMM_OPERAND_INL_H_
#endif

#include "reference_kernels/cpu/gemm_order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// A word is one widened term, and a lane adds it with one fused multiply-add.
template <class T>
struct Fused {
  using In = T;
  using Word = Acc<T>;
  using V = WideVec<Word>;
  static constexpr int kWords = ChainOrder<T>::kPerLane;  ///< a lane and step, in order
  static constexpr int kTerms = 1;                        ///< a word

  /// Word w of each lane of a register, from contiguous terms.
  template <int w>
  static HWY_INLINE V load(const T* p) {
    const Wide<Word> d;
    if constexpr (kWords == 2) {
      const hn::RebindToUnsigned<decltype(d)> du;
      const auto pair = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(p));
      if constexpr (w == 0) return hn::BitCast(d, hn::And(pair, hn::Set(du, 0xFFFF0000u)));
      return hn::BitCast(d, hn::ShiftLeft<16>(pair));
    } else {
      return load_wide(d, p);
    }
  }

  /// The next word of adjacent columns, from row p of W. `next_row` is where the row after it is.
  static HWY_INLINE V load_columns(const T* p, std::int64_t /*next_row*/) {
    return load_wide(Wide<Word>(), p);
  }
  /// The same where that row is beyond the end of k.
  static HWY_INLINE V load_last_columns(const T* p) { return load_columns(p, 0); }

  static HWY_INLINE V mul_add(V a, V w, V sum) { return hn::MulAdd(a, w, sum); }
};

#if HWY_TARGET <= HWY_AVX3
/// A word is a pair of bf16, and VDPBF16PS adds both of its products. Not an intrinsic: the AVX3
/// target of Highway 1.0 does not include avx512_bf16. Run only where the CPU has it.
struct PairDot {
  using In = hwy::bfloat16_t;
  using Word = float;
  using V = WideVec<float>;
  static constexpr int kWords = 1, kTerms = 2;

  template <int w>
  static HWY_INLINE V load(const In* p) {
    return hn::LoadU(Wide<float>(), reinterpret_cast<const float*>(p));
  }

  static HWY_INLINE V load_columns(const In* p, std::int64_t next_row) {
    const hn::CappedTag<std::uint16_t, 32> d;
    const hn::Half<decltype(d)> half;
    const auto lower = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(p));
    const auto upper = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(p + next_row));
    alignas(64) static constexpr std::uint16_t kPaired[32] = {
        0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
        8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    // Highway 1.0 has no lookup of 16-bit lanes.
    const decltype(hn::Zero(d)) pairs{
        _mm512_permutexvar_epi16(hn::Load(d, kPaired).raw, hn::Combine(d, upper, lower).raw)};
    return hn::BitCast(Wide<float>(), pairs);
  }
  static HWY_INLINE V load_last_columns(const In* p) {
    const hn::Rebind<std::uint16_t, Wide<float>> d16;
    const hn::RebindToUnsigned<Wide<float>> du;
    const auto terms = hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(p));
    return hn::BitCast(Wide<float>(), hn::PromoteTo(du, terms));
  }

  static HWY_INLINE V mul_add(V a, V w, V sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(w.raw));
    return sum;
  }
};
#endif

/// Terms of one step along k, and the words they make.
template <class Op>
inline constexpr int kStepTerms = ChainOrder<typename Op::In>::kStep;
template <class Op>
inline constexpr int kStepWords = kStepTerms<Op> / Op::kTerms;

/// One step of words, register by register and word by word, from terms that are contiguous.
template <class Op>
HWY_INLINE void store_words(const typename Op::In* p, typename Op::Word* out) {
  const Wide<typename Op::Word> d;
  constexpr int kLanes = kWideLanes<typename Op::Word>, kTerms = kLanes * Op::kWords * Op::kTerms;
  for_each<kStepTerms<Op> / kTerms * Op::kWords>([&](auto n) BIC_INLINED {
    constexpr int r = n / Op::kWords, w = n % Op::kWords;
    hn::StoreU(Op::template load<w>(p + r * kTerms), d, out + n * kLanes);
  });
}

/// Calls step(s, terms) for the steps of a row whose terms are `stride` apart: `terms` points to
/// kStepTerms of them, contiguous, the last ones zeros beyond k.
template <class Op, class F>
HWY_INLINE void for_steps(const typename Op::In* row, std::int64_t stride, std::int64_t k, F step) {
  using T = typename Op::In;
  constexpr std::int64_t kTerms = kStepTerms<Op>;
  std::int64_t s = 0;
  for (; stride == 1 && (s + 1) * kTerms <= k; ++s) step(s, row + s * kTerms);
  for (; s * kTerms < k; ++s) {
    const std::int64_t first = s * kTerms, count = std::min(kTerms, k - first);
    T some[kTerms];
    std::memset(static_cast<void*>(some), 0, sizeof(some));
    for (std::int64_t q = 0; q < count; ++q) some[q] = row[(first + q) * stride];
    step(s, static_cast<const T*>(some));
  }
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

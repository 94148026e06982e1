// Sums for a vector of columns at a time, in the order of gemm: the lanes of a sum meet in
// registers. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_COLUMN_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_COLUMN_SUMS_INL_H_
#undef BIC_CPU_COLUMN_SUMS_INL_H_
#else
#define BIC_CPU_COLUMN_SUMS_INL_H_
#endif

#include "reference_kernels/cpu/gemm_operand-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// No bit depends on it: rows that share the loads of W; four lanes of each are accumulators.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kSumRows = 4;
#else
inline constexpr int kSumRows = 3;
#endif

/// A term in memory that is read as words: widened, or one of two that make a word as they are.
template <class Op>
using StoredTerm = std::conditional_t<Op::kTerms == 1, typename Op::Word, typename Op::In>;

template <class To, class T>
HWY_INLINE To as_stored(T x) {
  if constexpr (std::is_same_v<To, T>)
    return x;
  else
    return widen(x);
}

/// to[i * to_step] = x[i * x_step]
template <class To, class T>
void copy_values(
    const T* x, std::int64_t x_step, std::int64_t count, To* to, std::int64_t to_step) {
  const bool contiguous = x_step == 1 && to_step == 1;
  std::int64_t i = 0;
  if constexpr (std::is_same_v<To, T>) {
    if (contiguous) {
      std::memcpy(static_cast<void*>(to), x, count * sizeof(T));
      return;
    }
  } else {
    const Wide<To> d;
    constexpr std::int64_t kVector = kWideLanes<To>;
    for (; contiguous && i + kVector <= count; i += kVector) {
      hn::StoreU(load_wide(d, x + i), d, to + i);
    }
  }
  for (; i < count; ++i) to[i * to_step] = as_stored<To>(x[i * x_step]);
}

/// Where word k of the columns of W begins: at even distances, or where a list says.
struct EvenPlaces {
  std::int64_t stride;
  std::int64_t operator[](std::int64_t k) const { return k * stride; }
};
using ListedPlaces = const std::int64_t*;

/// Rows of A and a vector of columns of W, in words of Op.
template <class Op, class Places>
struct SumOperands {
  const typename Op::Word* a;
  std::int64_t a_row, a_word;
  const typename Op::Word* w;
  Places places;
  std::int64_t words;
};

template <int Rows, class Op>
using RowSums = typename Op::V[Rows];

/// Of each row the chains of lanes `first`, and those a quarter, a half and three quarters further,
/// and the part of the tree that joins these four.
template <int Rows, class Op, class Places>
HWY_INLINE void four_lanes(const SumOperands<Op, Places>& o, int first, RowSums<Rows, Op>& sum) {
  constexpr int kQuarter = ChainOrder<typename Op::In>::kLanes / 4;
  const Wide<typename Op::Word> d;
  typename Op::V acc[4][Rows];
  for_each<4 * Rows>([&](auto n) BIC_INLINED { acc[n / Rows][n % Rows] = hn::Zero(d); });
  const auto step = [&](std::int64_t begin, bool whole) BIC_INLINED {
    for_each<4 * Op::kWords>([&](auto n) BIC_INLINED {
      constexpr int q = n / Op::kWords, word = Op::kWords - 1 - n % Op::kWords;
      const std::int64_t k = begin + (first + q * kQuarter) * Op::kWords + word;
      if (!whole && k >= o.words) return;
      auto w = hn::LoadU(d, o.w + o.places[k]);
      if constexpr (Rows > 1) keep_in_register(w);
      for_each<Rows>([&](auto i) BIC_INLINED {
        const auto a = hn::Set(d, o.a[i * o.a_row + k * o.a_word]);
        acc[q][i] = Op::mul_add(a, w, acc[q][i]);
      });
    });
  };
  std::int64_t k = 0;
  for (; k + kStepWords<Op> <= o.words; k += kStepWords<Op>) step(k, true);
  if (k < o.words) step(k, false);
  for_each<Rows>([&](auto i) BIC_INLINED {
    sum[i] = hn::Add(hn::Add(acc[0][i], acc[2][i]), hn::Add(acc[1][i], acc[3][i]));
  });
}

/// The whole sums of each row.
template <int Rows, class Op, class Places>
HWY_INLINE void column_sums(const SumOperands<Op, Places>& o, RowSums<Rows, Op>& sum) {
  RowSums<Rows, Op> other;
  const auto join = [](auto& to, const auto& from) BIC_INLINED {
    for_each<Rows>([&](auto r) BIC_INLINED { to[r] = hn::Add(to[r], from[r]); });
  };
  four_lanes<Rows, Op>(o, 0, sum);
  if constexpr (ChainOrder<typename Op::In>::kLanes == 16) {
    RowSums<Rows, Op> part;
    four_lanes<Rows, Op>(o, 2, part);
    join(sum, part);
    four_lanes<Rows, Op>(o, 1, other);
    four_lanes<Rows, Op>(o, 3, part);
    join(other, part);
  } else {
    four_lanes<Rows, Op>(o, 1, other);
  }
  join(sum, other);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

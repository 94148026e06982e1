// gemm for short sums, mostly stacks of small matrices: nothing is packed in advance, and the lanes
// of a sum meet in registers. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_SMALL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_SMALL_INL_H_
#undef BIC_CPU_GEMM_SMALL_INL_H_
#else
#define BIC_CPU_GEMM_SMALL_INL_H_
#endif

#include "reference_kernels/cpu/column_sums-inl.h"
#include "reference_kernels/cpu/gemm_pack-inl.h"
#include "reference_kernels/cpu/tasks.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// No bit depends on these: rows of a task, more of them (W is then copied less often) if that makes
// tasks enough for all threads; vectors of columns of a task; bytes between rows of W from which on
// they evict one another from L1.
inline constexpr std::int64_t kSmallRows = 32, kManyRowsOfSmall = 128, kManySmall = 16,
                              kSmallVectors = 6, kNearRows = 1024;

template <class Op>
using SmallOperands = SumOperands<Op, EvenPlaces>;

/// y[i .. i + Rows, j .. j + cols), at most a vector of columns.
template <int Rows, class Op>
HWY_NOINLINE void small_tile(const GemmArgs<typename Op::In>& g,
                             const SmallOperands<Op>& o,
                             std::int64_t i,
                             std::int64_t j,
                             std::int64_t cols) {
  RowSums<Rows, Op> sum;
  column_sums<Rows, Op>(o, sum);
  const Wide<typename Op::Word> d;
  for_each<Rows>([&](auto r) BIC_INLINED { finish(d, sum[r], g, i + r, j, cols); });
}

struct SmallA;
struct SmallW;

/// Rows i0 .. i0 + rows of A: where they stand, or in words.
template <class Op>
void take_rows(const GemmArgs<typename Op::In>& g,
               std::int64_t i0,
               std::int64_t rows,
               SmallOperands<Op>& o) {
  using T = typename Op::In;
  using Word = typename Op::Word;
  if constexpr (std::is_same_v<T, Word>) {
    o.a = g.a + i0 * g.a_row, o.a_row = g.a_row, o.a_word = g.a_k;
  } else {
    Word* copy = scratch<SmallA, Word>(rows * o.words + 1);
    o.a = copy, o.a_row = o.words, o.a_word = 1;
    for (std::int64_t i = 0; i < rows; ++i, copy += o.words) {
      if (o.words > 0) copy[o.words - 1] = 0;  // the half of a word that an odd k leaves
      auto* to = reinterpret_cast<StoredTerm<Op>*>(copy);
      copy_values(g.a + (i0 + i) * g.a_row, g.a_k, g.k, to, 1);
    }
  }
}

/// The word of terms k, ... of `cols` columns side by side, zeros after them.
template <class Op>
HWY_INLINE typename Op::V words_of_columns(const GemmArgs<typename Op::In>& g,
                                           std::int64_t k,
                                           const typename Op::In* w,
                                           std::int64_t cols) {
  using T = typename Op::In;
  const Wide<typename Op::Word> d;
  constexpr std::int64_t kVector = kWideLanes<typename Op::Word>;
  if constexpr (Op::kTerms == 1) {
    return load_columns(d, w, cols);
  } else {
    const std::int64_t terms = HWY_MIN(Op::kTerms, g.k - k);
    if (cols >= kVector) {
      return terms < Op::kTerms ? Op::load_last_columns(w) : Op::load_columns(w, g.w_k);
    }
    T some[Op::kTerms * kVector];
    std::memset(static_cast<void*>(some), 0, sizeof(some));
    for (std::int64_t t = 0; t < terms; ++t) {
      std::memcpy(static_cast<void*>(some + t * kVector), w + t * g.w_k, cols * sizeof(T));
    }
    return Op::load_columns(some, kVector);
  }
}

/// The whole 16-byte blocks of words of columns that stand along k, turned to rows of `copy`:
/// returns how many words of each column that were; none of the last columns of less than a block.
template <class Op>
HWY_INLINE std::int64_t turn_blocks(const GemmArgs<typename Op::In>& g,
                                    const typename Op::In* w,
                                    std::int64_t cols,
                                    typename Op::Word* copy) {
  using U = hwy::UnsignedFromSize<sizeof(typename Op::Word)>;
  constexpr int kB = 16 / sizeof(U);
  constexpr std::int64_t kVector = kWideLanes<typename Op::Word>;
  const hn::CappedTag<U, kB> d;
  const std::int64_t words = g.k / Op::kTerms / kB * kB;
  for (std::int64_t c = 0; c + kB <= cols; c += kB) {
    for (std::int64_t q = 0; q < words; q += kB) {
      hn::Vec<decltype(d)> v[kB];
      for_each<kB>([&](auto i) BIC_INLINED {
        v[i] = hn::LoadU(d, reinterpret_cast<const U*>(w + (c + i) * g.w_n) + q);
      });
      transpose_blocks<kB>(d, v);
      U* to = reinterpret_cast<U*>(copy) + q * kVector + c;
      for_each<kB>([&](auto i) BIC_INLINED { hn::StoreU(v[i], d, to + i * kVector); });
    }
  }
  return words;
}

/// Columns in words, from any strides.
template <class Op>
void turn_columns(const GemmArgs<typename Op::In>& g,
                  const typename Op::In* w,
                  std::int64_t cols,
                  typename Op::Word* copy) {
  using Word = typename Op::Word;
  constexpr std::int64_t kVector = kWideLanes<Word>, kTerms = Op::kTerms, kB = 16 / sizeof(Word);
  std::int64_t turned = 0;
  if constexpr (sizeof(StoredTerm<Op>) == sizeof(*w)) {
    if (g.w_k == 1) turned = turn_blocks<Op>(g, w, cols, copy) * kTerms;
  }
  auto* to = reinterpret_cast<StoredTerm<Op>*>(copy);
  for (std::int64_t c = 0; c < cols; ++c, w += g.w_n) {
    for (std::int64_t t = 0; t < kTerms; ++t) {
      const std::int64_t from = t + (c < cols / kB * kB ? turned : 0);
      const std::int64_t count = (g.k - from + kTerms - 1) / kTerms;
      auto* first = to + (from - t) * kVector + c * kTerms + t;
      copy_values(w + from * g.w_k, kTerms * g.w_k, count, first, kTerms * kVector);
    }
  }
}

/// Columns j .. j + cols of W: where they stand, or in words and filled up with zeros.
template <class Op>
void take_columns(const GemmArgs<typename Op::In>& g,
                  std::int64_t j,
                  std::int64_t cols,
                  SmallOperands<Op>& o) {
  using T = typename Op::In;
  using Word = typename Op::Word;
  constexpr std::int64_t kVector = kWideLanes<Word>;
  const T* w = g.w + j * g.w_n;
  if constexpr (std::is_same_v<T, Word>) {
    o.w = w, o.places = {g.w_k};
    const bool near = g.w_k * static_cast<std::int64_t>(sizeof(T)) <= kNearRows;
    if (g.w_n == 1 && cols >= kVector && (near || g.m <= kSumRows)) return;
  }
  Word* copy = scratch<SmallW, Word>(o.words * kVector + 1);
  o.w = copy, o.places = {kVector};
  if (g.w_n == 1) {
    for (std::int64_t k = 0; k < g.k; k += Op::kTerms, w += Op::kTerms * g.w_k, copy += kVector) {
      hn::StoreU(words_of_columns<Op>(g, k, w, cols), Wide<Word>(), copy);
    }
    return;
  }
  std::fill_n(copy, o.words * kVector, Word(0));
  turn_columns<Op>(g, w, cols, copy);
}

/// Rows i0 .. i1 and columns j0 .. j1 of one product.
template <class Op>
void small_block(const GemmArgs<typename Op::In>& g,
                 std::int64_t i0,
                 std::int64_t i1,
                 std::int64_t j0,
                 std::int64_t j1) {
  constexpr std::int64_t kVector = kWideLanes<typename Op::Word>;
  SmallOperands<Op> o{};
  o.words = (g.k + Op::kTerms - 1) / Op::kTerms;
  take_rows<Op>(g, i0, i1 - i0, o);
  for (std::int64_t j = j0; j < j1; j += kVector) {
    const std::int64_t cols = std::min(kVector, j1 - j);
    take_columns<Op>(g, j, cols, o);
    SmallOperands<Op> at = o;
    std::int64_t i = i0;
    for (; i + kSumRows <= i1; i += kSumRows, at.a += kSumRows * o.a_row) {
      small_tile<kSumRows, Op>(g, at, i, j, cols);
    }
    if (i + 2 <= i1) {
      small_tile<2, Op>(g, at, i, j, cols);
      i += 2, at.a += 2 * o.a_row;
    }
    if (i < i1) small_tile<1, Op>(g, at, i, j, cols);
  }
}

template <class Op>
void gemm_small(const GemmArgs<typename Op::In>& g, const ParallelFor& parallel) {
  constexpr std::int64_t kCols = kSmallVectors * kWideLanes<typename Op::Word>;
  const std::int64_t across = (g.n + kCols - 1) / kCols;
  const auto blocks = [&](std::int64_t rows) { return (g.m + rows - 1) / rows; };
  const bool many = g.batch * blocks(kManyRowsOfSmall) * across >= kManySmall;
  const std::int64_t rows = many ? kManyRowsOfSmall : kSmallRows, down = blocks(rows);
  const std::int64_t items = g.batch * down * across;
  const std::int64_t each = items_per_task(items, std::min(g.m, rows) * std::min(g.n, kCols) * g.k);
  const std::int64_t work = g.batch * g.m * g.n * g.k;
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    for (std::int64_t t = begin * each; t < std::min(items, end * each); ++t) {
      const std::int64_t i = t / across % down * rows, j = t % across * kCols;
      const auto one = some_batches(g, t / across / down, 1);
      small_block<Op>(one, i, std::min(g.m, i + rows), j, std::min(g.n, j + kCols));
    }
  });
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

// What attention is made of: chains of multiply-adds on register tiles, and the panels of keys and
// values they read. Compiled once a target; the guard is Highway's.
#if defined(BIC_CPU_ATTENTION_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_ATTENTION_PANELS_INL_H_
#undef BIC_CPU_ATTENTION_PANELS_INL_H_
#else
#define BIC_CPU_ATTENTION_PANELS_INL_H_
#endif

#include <algorithm>

#include "reference_kernels/cpu/attention.h"
#include "reference_kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Query rows that share packed keys and values, keys packed at a time, rows of a register tile. No
/// bit depends on them.
inline constexpr std::int64_t kQueryRows = 64, kPanelKeys = 64, kTileRows = 4;

inline std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// C[i,n] += a[i,0] b[0,n] + a[i,1] b[1,n] + …, a chain in this order for each.
template <class A, class B>
struct Chains {
  const A* a;
  std::int64_t a_row;
  const B* b;
  std::int64_t b_row, terms;
  A* c;
  std::int64_t c_row;
};

template <int Rows, int Regs, class A, class B>
HWY_INLINE void add_tile(const Chains<A, B>& g, std::int64_t column) {
  const Wide<A> d;
  constexpr int kLanes = kWideLanes<A>;
  WideVec<A> sum[Rows][Regs];
  for_each<Rows * Regs>([&](auto n) BIC_INLINED {
    sum[n / Regs][n % Regs] = hn::LoadU(d, g.c + n / Regs * g.c_row + column + n % Regs * kLanes);
  });
  const B* b = g.b + column;
  for (std::int64_t t = 0; t < g.terms; ++t, b += g.b_row) {
    WideVec<A> right[Regs];
    for_each<Regs>([&](auto r) BIC_INLINED { right[r] = load_wide(d, b + r * kLanes); });
    for_each<Rows>([&](auto i) BIC_INLINED {
      const auto left = hn::Set(d, g.a[i * g.a_row + t]);
      for_each<Regs>([&](auto r)
                         BIC_INLINED { sum[i][r] = hn::MulAdd(left, right[r], sum[i][r]); });
    });
  }
  for_each<Rows * Regs>([&](auto n) BIC_INLINED {
    hn::StoreU(sum[n / Regs][n % Regs], d, g.c + n / Regs * g.c_row + column + n % Regs * kLanes);
  });
}

/// All columns, whole groups of 16.
template <int Rows, class A, class B>
void add_columns(const Chains<A, B>& g, std::int64_t columns) {
  constexpr int kLanes = kWideLanes<A>;
  constexpr int kMost = HWY_TARGET <= HWY_AVX3 ? 4 : 2;  // registers: 32 and 16
  std::int64_t j = 0;
  for (; j + kMost * kLanes <= columns; j += kMost * kLanes) add_tile<Rows, kMost>(g, j);
  for (; j + kLanes <= columns; j += kLanes) add_tile<Rows, 1>(g, j);
}

/// Up to kTileRows rows.
template <class A, class B>
void add_rows(const Chains<A, B>& g, std::int64_t rows, std::int64_t columns) {
  if (rows == 4) return add_columns<4>(g, columns);
  if (rows == 3) return add_columns<3>(g, columns);
  if (rows == 2) return add_columns<2>(g, columns);
  add_columns<1>(g, columns);
}

/// Vectors of 16 bytes.
template <class A>
using Quad = hn::FixedTag<A, 16 / sizeof(A)>;

/// `count` elements side by side, widened; the last vector overlaps the one before. False when they
/// are fewer than a vector.
template <class D, class T>
HWY_INLINE bool widen_dense(D d, const T* x, std::int64_t count, Acc<T>* out) {
  constexpr std::int64_t kLanes = hn::MaxLanes(D());
  if (count < kLanes) return false;
  for (std::int64_t i = 0; i < count - kLanes; i += kLanes) {
    hn::StoreU(load_wide(d, x + i), d, out + i);
  }
  hn::StoreU(load_wide(d, x + count - kLanes), d, out + count - kLanes);
  return true;
}

/// `count` elements at a stride, widened, and zeros up to whole groups of 16.
template <class T>
HWY_INLINE void widen_row(const T* x, std::int64_t stride, std::int64_t count, Acc<T>* out) {
  using A = Acc<T>;
  std::fill(out + count, out + round_up(count, kSumLanes), A(0));
  if (stride == 1 && widen_dense(Wide<A>(), x, count, out)) return;
  if (stride == 1 && widen_dense(Quad<A>(), x, count, out)) return;
  for (std::int64_t i = 0; i < count; ++i) out[i] = widen(x[i * stride]);
}

/// Turns 128-bit rows into columns.
template <class V>
HWY_INLINE void transpose(V (&x)[4]) {
  const hn::DFromV<V> d;
  const V a = hn::InterleaveLower(d, x[0], x[2]), b = hn::InterleaveLower(d, x[1], x[3]);
  const V c = hn::InterleaveUpper(d, x[0], x[2]), e = hn::InterleaveUpper(d, x[1], x[3]);
  x[0] = hn::InterleaveLower(d, a, b), x[1] = hn::InterleaveUpper(d, a, b);
  x[2] = hn::InterleaveLower(d, c, e), x[3] = hn::InterleaveUpper(d, c, e);
}
template <class V>
HWY_INLINE void transpose(V (&x)[2]) {
  const hn::DFromV<V> d;
  const V a = hn::InterleaveLower(d, x[0], x[1]);
  x[1] = hn::InterleaveUpper(d, x[0], x[1]), x[0] = a;
}

/// As many keys as columns of them, transposed; keys beyond `count` are 0.
template <class T, int N = 16 / sizeof(Acc<T>)>
HWY_INLINE void load_keys(const T* k,
                          const HeadStrides& at,
                          std::int64_t count,
                          hn::Vec<Quad<Acc<T>>> (&x)[N]) {
  const Quad<Acc<T>> d;
  if (HWY_LIKELY(at.column == 1 && count >= N)) {
    for_each<N>([&](auto i) BIC_INLINED { x[i] = load_wide(d, k + i * at.row); });
  } else {
    for_each<N>([&](auto i) BIC_INLINED {
      Acc<T> row[N] = {};
      for (int c = 0; i < count && c < N; ++c) row[c] = widen(k[i * at.row + c * at.column]);
      x[i] = hn::LoadU(d, row);
    });
  }
  transpose(x);
}

/// `count` keys side by side: panel[e][key], zeros in keys up to whole groups of 16.
template <class T>
void pack_keys(const AttentionArgs<T>& g, const T* k, std::int64_t count, Acc<T>* panel) {
  constexpr int kQuad = 16 / sizeof(Acc<T>);
  const Quad<Acc<T>> d;
  for (std::int64_t key = 0; key < round_up(count, kSumLanes); key += kQuad) {
    const T* rows = k + key * g.k_at.row;
    for (std::int64_t column = 0; g.e >= kQuad && column < g.e; column += kQuad) {
      const std::int64_t c = std::min(column, g.e - kQuad);  // the last overlaps the one before
      hn::Vec<Quad<Acc<T>>> x[kQuad];
      load_keys(rows + c * g.k_at.column, g.k_at, count - key, x);
      Acc<T>* to = panel + c * kPanelKeys + key;
      for_each<kQuad>([&](auto i) BIC_INLINED { hn::StoreU(x[i], d, to + i * kPanelKeys); });
    }
    for (std::int64_t i = 0; g.e < kQuad && i < g.e * kQuad; ++i) {
      const std::int64_t c = i / kQuad, at = i % kQuad * g.k_at.row + c * g.k_at.column;
      panel[c * kPanelKeys + key + i % kQuad] = key + i % kQuad < count ? widen(rows[at]) : 0;
    }
  }
}

/// Row by row, zeros in columns up to whole groups of 16.
template <class T>
void pack_values(const AttentionArgs<T>& g, const T* v, std::int64_t count, Acc<T>* panel) {
  const std::int64_t width = round_up(g.ev, kSumLanes);
  for (std::int64_t key = 0; key < count; ++key) {
    widen_row(v + key * g.v_at.row, g.v_at.column, g.ev, panel + key * width);
  }
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

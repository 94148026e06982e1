#include "reference_kernels/cpu/attention.h"

#include <algorithm>
#include <limits>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/attention.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/attention_panels-inl.h"
#include "reference_kernels/cpu/gemm_order-inl.h"
#include "reference_kernels/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// A block of query rows of one key head. Row r is query r % l of the group's head r / l.
template <class T>
struct QueryBlock {
  using A = Acc<T>;
  const AttentionArgs<T>& g;
  std::int64_t batch, key_head, first, rows;
  A *q, *panel, *weights, *y;  ///< [rows][e], one panel, [rows][w_row], [rows][columns]
  std::int64_t w_row = round_up(g.s, kPanelKeys) + kSumLanes;  // beside a power of two
  std::int64_t columns = round_up(g.ev, kSumLanes);
  std::int64_t keys[kQueryRows] = {};  ///< of each row, those before the causal diagonal

  std::int64_t head(std::int64_t r) const {
    return key_head * (g.heads / g.key_heads) + (first + r) / g.l;
  }
  std::int64_t query(std::int64_t r) const { return (first + r) % g.l; }
  std::int64_t at(const HeadStrides& s, std::int64_t r) const {
    return batch * s.batch + head(r) * s.head + query(r) * s.row;
  }
  std::int64_t most_keys(std::int64_t from, std::int64_t count) const {
    std::int64_t most = 0;
    for (std::int64_t r = from; r < from + count; ++r) most = std::max(most, keys[r]);
    return most;
  }
};

/// The dots of all rows with the keys that some row of their tile sees.
template <class T>
void dot_keys(const QueryBlock<T>& b) {
  using A = Acc<T>;
  const AttentionArgs<T>& g = b.g;
  const std::int64_t q_row = round_up(g.e, kSumLanes), all = b.most_keys(0, b.rows);
  for (std::int64_t r = 0; r < b.rows; ++r) {
    widen_row(g.q + b.at(g.q_at, r), g.q_at.column, g.e, b.q + r * q_row);
  }
  std::fill_n(b.weights, b.rows * b.w_row, A(0));
  const T* k = g.k + b.batch * g.k_at.batch + b.key_head * g.k_at.head;
  for (std::int64_t p = 0; p < all; p += kPanelKeys) {
    const std::int64_t count = std::min(kPanelKeys, all - p);
    pack_keys(g, k + p * g.k_at.row, count, b.panel);
    for (std::int64_t r = 0; r < b.rows; r += kTileRows) {
      const std::int64_t rows = std::min(kTileRows, b.rows - r);
      if (b.most_keys(r, rows) <= p) continue;
      const A* q = b.q + r * q_row;
      A* dots = b.weights + r * b.w_row + p;
      add_rows<A, A>(
          {q, q_row, b.panel, kPanelKeys, g.e, dots, b.w_row}, rows, round_up(count, kSumLanes));
    }
  }
}

/// The first `count` flags, then zeros.
template <class D>
HWY_INLINE hn::Vec<D> load_flags(D d, const bool* flags, std::int64_t count) {
  constexpr std::int64_t kLanes = hn::MaxLanes(D());
  std::uint8_t some[kLanes] = {};
  if (count == kLanes) return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(flags));
  std::memcpy(some, flags, count);
  return hn::LoadU(d, some);
}

/// Lanes of keys that the row sees; the first `count` only.
template <class D>
HWY_INLINE hn::Mask<D> seen_lanes(D d, const bool* seen, std::int64_t count) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::RebindToSigned<D> di;
    const auto flags = load_flags(hn::Rebind<std::uint8_t, D>(), seen, count);
    return hn::Gt(hn::ConvertTo(d, hn::PromoteTo(di, flags)), hn::Zero(d));
  } else {
    hn::TFromD<D> flags[hn::MaxLanes(D())] = {};
    for (std::int64_t i = 0; i < count; ++i) flags[i] = seen[i];
    return hn::Gt(hn::LoadU(d, flags), hn::Zero(d));
  }
}

/// Dots to z, -Inf where the row does not look, in whole groups of 16. Returns the maximum.
template <class T>
Acc<T> finish_logits(const QueryBlock<T>& b, std::int64_t r, std::int64_t keys, Acc<T>* z) {
  using A = Acc<T>;
  const Wide<A> d;
  constexpr std::int64_t kLanes = kWideLanes<A>;
  const AttentionArgs<T>& g = b.g;
  const A* added = g.added ? g.added + b.at(g.mask_at, r) : nullptr;
  const bool* seen = g.seen ? g.seen + b.at(g.mask_at, r) : nullptr;
  const auto lowest = hn::Set(d, -std::numeric_limits<A>::infinity());
  const auto scale = hn::Set(d, static_cast<A>(g.scale));
  auto top = lowest;
  for (std::int64_t j = 0; j < round_up(keys, kSumLanes); j += kLanes) {
    const std::int64_t count = std::clamp<std::int64_t>(keys - j, 0, kLanes);
    auto looks = hn::FirstN(d, count);
    auto bias = hn::Zero(d);
    if (added != nullptr) {
      bias = count == kLanes ? hn::LoadU(d, added + j) : load_some(d, added + j, count);
      looks = hn::AndNot(hn::Eq(bias, lowest), looks);
    }
    if (seen != nullptr) looks = hn::And(looks, seen_lanes(d, seen + j, count));
    const auto x = hn::MulAdd(hn::LoadU(d, z + j), scale, bias);
    const auto kept = hn::IfThenElse(looks, x, lowest);
    hn::StoreU(kept, d, z + j);
    top = hn::Max(hn::IfThenElse(hn::IsNaN(kept), top, kept), top);
  }
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

/// Overwrites a row of dots with its weights and returns their sum, or 1 where it sees no key.
template <class T>
Acc<T> weigh(const QueryBlock<T>& b, std::int64_t r, Acc<T>* z) {
  using A = Acc<T>;
  const Wide<A> d;
  const std::int64_t keys = b.keys[r];
  const A most = finish_logits(b, r, keys, z);
  const bool blind = most == -std::numeric_limits<A>::infinity();
  const auto max = hn::Set(d, blind ? A(0) : most);
  auto sums = zero_lanes<A>();
  for (std::int64_t j = 0; j < keys; j += kSumLanes) {
    for_each<Lanes<A>::kRegs>([&](auto i) BIC_INLINED {
      A* p = z + j + i * kWideLanes<A>;
      const auto w = exp_nonpositive(d, hn::Sub(hn::LoadU(d, p), max));
      hn::StoreU(w, d, p);
      sums.reg[i] = hn::Add(sums.reg[i], w);
    });
  }
  // Dots that the other rows of the tile asked for.
  if (b.g.causal) std::fill(z + round_up(keys, kSumLanes), z + b.w_row, A(0));
  const A sum = fold_lanes(sums);
  return sum == 0 ? A(1) : sum;
}

/// The row again, without the keys of weight 0: 0 times NaN or Inf would be NaN.
template <class T>
void add_seen_values(const QueryBlock<T>& b, std::int64_t r, const T* v) {
  std::fill_n(b.y + r * b.columns, b.columns, Acc<T>(0));
  for (std::int64_t j = 0; j < b.keys[r]; ++j) {
    const Acc<T>* weight = b.weights + r * b.w_row + j;
    if (*weight == 0) continue;
    pack_values(b.g, v + j * b.g.v_at.row, 1, b.panel);
    add_columns<1, Acc<T>, Acc<T>>(
        {weight, 0, b.panel, b.columns, 1, b.y + r * b.columns, b.columns}, b.columns);
  }
}

template <class T>
void add_values(const QueryBlock<T>& b, const T* v) {
  using A = Acc<T>;
  const AttentionArgs<T>& g = b.g;
  // One tile reads a value once: widened there or before, it costs the same.
  const bool in_place =
      g.v_at.column == 1 && g.ev == b.columns && (std::is_same_v<T, A> || b.rows <= kTileRows);
  std::fill_n(b.y, b.rows * b.columns, A(0));
  const std::int64_t all = b.most_keys(0, b.rows);
  for (std::int64_t p = 0; p < all; p += kPanelKeys) {
    const T* values = v + p * g.v_at.row;
    if (!in_place) pack_values(g, values, std::min(kPanelKeys, all - p), b.panel);
    for (std::int64_t r = 0; r < b.rows; r += kTileRows) {
      const std::int64_t rows = std::min(kTileRows, b.rows - r);
      const std::int64_t terms = std::min(kPanelKeys, b.most_keys(r, rows) - p);
      if (terms <= 0) continue;
      const A* w = b.weights + r * b.w_row + p;
      A* y = b.y + r * b.columns;
      if (in_place) {
        add_rows<A, T>({w, b.w_row, values, g.v_at.row, terms, y, b.columns}, rows, b.columns);
      } else {
        add_rows<A, A>({w, b.w_row, b.panel, b.columns, terms, y, b.columns}, rows, b.columns);
      }
    }
  }
}

template <class A>
bool holds_nan(const A* x, std::int64_t count) {
  const Wide<A> d;
  auto nan = hn::Zero(d);
  for (std::int64_t i = 0; i < count; i += kWideLanes<A>) {
    nan = hn::Or(nan, hn::VecFromMask(d, hn::IsNaN(hn::LoadU(d, x + i))));
  }
  return !hn::AllFalse(d, hn::MaskFromVec(nan));
}

template <class T>
void store_row(const QueryBlock<T>& b, std::int64_t r, Acc<T> sum) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  const Acc<T>* row = b.y + r * b.columns;
  T* y = b.g.y + b.at(b.g.y_at, r);
  for (std::int64_t c = 0; c < b.g.ev; c += kLanes) {
    const auto v = hn::Add(hn::Div(hn::LoadU(d, row + c), hn::Set(d, sum)), hn::Zero(d));
    if (c + kLanes <= b.g.ev) {
      store_rounded(d, v, y + c);
    } else {
      store_some(d, v, y + c, b.g.ev - c);
    }
  }
}

struct AttentionBuffer;

template <class T>
void attend(const AttentionArgs<T>& g,
            std::int64_t batch,
            std::int64_t key_head,
            std::int64_t first,
            std::int64_t rows) {
  QueryBlock<T> b{g, batch, key_head, first, rows, nullptr, nullptr, nullptr, nullptr};
  const std::int64_t q_row = round_up(g.e, kSumLanes);
  const std::int64_t panel = kPanelKeys * std::max(round_up(g.e, 4), b.columns);
  b.q = scratch<AttentionBuffer, Acc<T>>(rows * (q_row + b.w_row + b.columns) + panel);
  b.panel = b.q + rows * q_row;
  b.weights = b.panel + panel;
  b.y = b.weights + rows * b.w_row;
  for (std::int64_t r = 0; r < rows; ++r) {
    b.keys[r] = g.causal ? std::min(g.s, b.query(r) + 1) : g.s;
  }
  const T* v = g.v + batch * g.v_at.batch + key_head * g.v_at.head;
  Acc<T> sums[kQueryRows];
  dot_keys(b);
  for (std::int64_t r = 0; r < rows; ++r) sums[r] = weigh(b, r, b.weights + r * b.w_row);
  add_values(b, v);
  for (std::int64_t r = 0; r < rows; ++r) {
    if (holds_nan(b.y + r * b.columns, b.columns)) add_seen_values(b, r, v);
    store_row(b, r, sums[r]);
  }
}

template <class T>
void attention_all(const AttentionArgs<T>& g, const ParallelFor& parallel) {
  if (g.key_heads == 0 || g.l == 0) return;
  const std::int64_t rows = g.heads / g.key_heads * g.l;
  const std::int64_t heads = g.batch * g.key_heads;
  std::int64_t size = kQueryRows;
  while (size > 16 && heads * ((rows + size - 1) / size) < 16) size /= 2;
  const std::int64_t blocks = (rows + size - 1) / size, items = heads * blocks;
  const std::int64_t terms = g.s * (g.e + g.ev);
  const std::int64_t each = items_per_task(items, std::min(size, rows) * terms);
  run_tasks(parallel, (items + each - 1) / each, heads * rows * terms, [&](auto begin, auto end) {
    for (std::int64_t i = begin * each; i < std::min(items, end * each); ++i) {
      const std::int64_t head = i / blocks, first = i % blocks * size;
      attend(g, head / g.key_heads, head % g.key_heads, first, std::min(size, rows - first));
    }
  });
}

void attention_f32(const AttentionArgs<float>& g, const ParallelFor& p) { attention_all(g, p); }
void attention_f64(const AttentionArgs<double>& g, const ParallelFor& p) { attention_all(g, p); }
void attention_bf16(const AttentionArgs<hwy::bfloat16_t>& g, const ParallelFor& p) {
  attention_all(g, p);
}
void attention_f16(const AttentionArgs<hwy::float16_t>& g, const ParallelFor& p) {
  attention_all(g, p);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(attention, AttentionArgs)
}  // namespace bic::cpu
#endif

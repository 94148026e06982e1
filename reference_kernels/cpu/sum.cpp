#include "reference_kernels/cpu/sum.h"

#include <algorithm>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/sum.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Columns of one task at most: 16 lanes of them fit L1. No bit depends on it.
inline constexpr std::int64_t kColumns = 128;

/// What a lane starts from, and how two of them are joined.
template <SumOf Of, class A>
constexpr A kStart = Of == SumOf::kFactors ? 1 : 0;
template <SumOf Of, class A>
A join(A a, A b) {
  return Of == SumOf::kFactors ? a * b : a + b;
}

/// lane + f(x), or lane * x
template <SumOf Of, class D>
HWY_INLINE hn::Vec<D> add(hn::Vec<D> x, hn::Vec<D> center, hn::Vec<D> lane) {
  if constexpr (Of == SumOf::kTerms) return hn::Add(lane, x);
  if constexpr (Of == SumOf::kFactors) return hn::Mul(lane, x);
  if constexpr (Of == SumOf::kSizes) return hn::Add(lane, hn::Abs(x));
  const auto factor = Of == SumOf::kSquares ? x : hn::Sub(x, center);
  return hn::MulAdd(factor, factor, lane);
}

template <class T>
Acc<T> mean_of(const SumArgs<T>& g, Acc<T> sum) {
  return sum / static_cast<Acc<T>>(g.slow * g.reduced);
}

/// The output before its rounding.
template <class D, class T>
HWY_INLINE hn::Vec<D> finish(D d, const SumArgs<T>& g, hn::Vec<D> sum) {
  if (g.divisor != 1) sum = hn::Div(sum, hn::Set(d, static_cast<Acc<T>>(g.divisor)));
  return g.root ? hn::Sqrt(sum) : sum;
}

template <class T>
void write(const SumArgs<T>& g, std::int64_t o, std::int64_t j, Acc<T> sum, Acc<T> center) {
  const std::int64_t at = o * g.y_outer + j * g.y_inner;
  const hn::CappedTag<Acc<T>, 1> one;
  g.y[at] = round_one<T>(hn::GetLane(finish(one, g, hn::Set(one, sum))));
  if (g.mean) g.mean[at] = round_one<T>(center);
}

/// y[j] = sums[j], j < cols, after the last steps.
template <class T>
void write_row(const SumArgs<T>& g, std::int64_t cols, bool finished, const Acc<T>* sums, T* y) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  for (std::int64_t j = 0; j < cols; j += kLanes) {
    const auto sum = load_columns(d, sums + j, cols - j);
    const auto v = finished ? sum : finish(d, g, sum);
    cols - j < kLanes ? store_some(d, v, y + j, cols - j) : store_rounded(d, v, y + j);
  }
}

/// Outputs [o, j0 .. j0 + cols).
template <class T>
void write_columns(const SumArgs<T>& g,
                   std::int64_t o,
                   std::int64_t j0,
                   std::int64_t cols,
                   const Acc<T>* sums,
                   const Acc<T>* center) {
  const std::int64_t at = o * g.y_outer + j0 * g.y_inner;
  if (g.y_inner != 1) {
    for (std::int64_t j = 0; j < cols; ++j) write(g, o, j0 + j, sums[j], center ? center[j] : 0);
    return;
  }
  write_row(g, cols, false, sums, g.y + at);
  if (center && g.mean) write_row(g, cols, true, center, g.mean + at);
}

/// lane[j] = from + f(x[j * stride]), from the lane or, if it is the `first` row, from the start.
/// Of columns side by side whole vectors: a first row also starts what they reach beyond `cols`.
template <SumOf Of, class T>
void add_row(const T* x,
             std::int64_t stride,
             std::int64_t cols,
             bool first,
             const Acc<T>* center,
             Acc<T>* lane) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  std::int64_t j = 0;
  const auto from = [&](auto tag) BIC_INLINED {
    return first ? hn::Set(tag, kStart<Of, Acc<T>>) : hn::LoadU(tag, lane + j);
  };
  const auto sum = [&](auto tag, auto v) BIC_INLINED {
    using D = decltype(tag);
    const auto c = Of == SumOf::kDeviations ? hn::LoadU(tag, center + j) : hn::Zero(tag);
    return add<Of, D>(v, c, from(tag));
  };
  if (stride == 1) {
    for (; j + kLanes <= cols; j += kLanes) {
      hn::StoreU(sum(d, load_wide(d, x + j)), d, lane + j);
    }
    if (j == cols) return;
    const auto last = sum(d, load_some(d, x + j, cols - j));
    hn::StoreU(hn::IfThenElse(hn::FirstN(d, cols - j), last, from(d)), d, lane + j);
    return;
  }
  // One lane of a vector, not a scalar: the same instruction, fused or not.
  const hn::CappedTag<Acc<T>, 1> one;
  for (; j < cols; ++j) {
    hn::StoreU(sum(one, hn::Set(one, widen(x[j * stride]))), one, lane + j);
  }
}

/// The lanes of at most kColumns columns, [lane][column], and what the last vector reaches beyond.
template <class A>
using ColumnLanes = A[kSumLanes * kColumns + kSumLanes];

/// Whether nothing lies between rows of `cols` columns: 16 of them are one row of all lanes.
template <class T>
bool gapless(const SumArgs<T>& g, std::int64_t cols) {
  const bool whole = g.slow == 1 || g.x_slow == g.reduced * cols;
  return g.x_inner == 1 && g.x_reduced == cols && whole;
}

/// f over the terms of columns 0, ..., cols <= kColumns of them: the sums are in lanes[0 .. cols).
template <SumOf Of, class T>
void add_columns(const SumArgs<T>& g,
                 const T* first,
                 std::int64_t cols,
                 const Acc<T>* center,
                 ColumnLanes<Acc<T>>& lanes) {
  constexpr std::int64_t kVector = kWideLanes<Acc<T>>;
  const std::int64_t terms = g.slow * g.reduced, all = terms * cols;
  // Apart, rows begin on vectors: one must not be loaded from where two were stored.
  std::int64_t pitch = (cols + kVector - 1) / kVector * kVector;
  if (terms <= 0 || g.x_inner != 1) std::fill_n(lanes, kSumLanes * pitch, kStart<Of, Acc<T>>);
  if (gapless(g, cols)) {
    pitch = cols;
    for (std::int64_t at = 0, width = kSumLanes * cols; at < all; at += width) {
      add_row<Of>(first + at, 1, std::min(width, all - at), at == 0, center, lanes);
    }
  } else {
    for (std::int64_t r = 0; r < terms; ++r) {
      const T* x = first + r / g.reduced * g.x_slow + r % g.reduced * g.x_reduced;
      Acc<T>* lane = lanes + r % kSumLanes * pitch;
      add_row<Of>(x, g.x_inner, cols, r < kSumLanes, center, lane);
    }
  }
  // Lanes without a term would join as the start they are, which changes nothing.
  std::int64_t used = std::min<std::int64_t>(terms, kSumLanes);
  for (std::int64_t half = kSumLanes / 2; half > 0; used = std::min(used, half), half /= 2) {
    for (std::int64_t j = 0; j < (used - half) * pitch; ++j) {
      lanes[j] = join<Of>(lanes[j], lanes[half * pitch + j]);
    }
  }
}

/// Outputs [o, j0 .. j0 + cols).
template <SumOf Of, class T>
void sum_columns(const SumArgs<T>& g, std::int64_t o, std::int64_t j0, std::int64_t cols) {
  const T* x = g.x + o * g.x_outer + j0 * g.x_inner;
  alignas(64) ColumnLanes<Acc<T>> lanes;
  if constexpr (Of == SumOf::kDeviations) {
    alignas(64) ColumnLanes<Acc<T>> center;
    add_columns<SumOf::kTerms>(g, x, cols, nullptr, lanes);
    const std::int64_t rows = gapless(g, cols) ? kSumLanes : 1;
    for (std::int64_t j = 0; j < cols; ++j) center[j] = mean_of(g, lanes[j]);
    for (std::int64_t l = 1; l < rows; ++l) std::copy_n(center, cols, center + l * cols);
    std::fill_n(center + rows * cols, kSumLanes, Acc<T>(0));
    add_columns<Of>(g, x, cols, center, lanes);
    write_columns(g, o, j0, cols, lanes, center);
  } else {
    add_columns<Of>(g, x, cols, nullptr, lanes);
    write_columns<T>(g, o, j0, cols, lanes, nullptr);
  }
}

/// Adds n contiguous terms, the first one to lane 0.
template <SumOf Of, class T>
void add_piece(const T* x, std::int64_t n, Acc<T> center, Lanes<Acc<T>>& lanes) {
  using A = Acc<T>;
  using D = Wide<A>;
  const D d;
  const auto centers = hn::Set(d, center);
  const std::int64_t whole = n / kSumLanes * kSumLanes;
  for_lanes(x, whole, lanes, A(0), [&](auto v, auto lane) BIC_INLINED {
    return add<Of, D>(v, centers, lane);
  });
  if (whole == n) return;
  // Lanes beyond the end stay as they are: a padding of 0 has a deviation.
  for_each<Lanes<A>::kRegs>([&](auto r) BIC_INLINED {
    const std::int64_t at = whole + r * kWideLanes<A>;
    if (at >= n) return;
    const std::int64_t count = std::min<std::int64_t>(n - at, kWideLanes<A>);
    const auto sum = add<Of, D>(load_some(d, x + at, count), centers, lanes.reg[r]);
    lanes.reg[r] = hn::IfThenElse(hn::FirstN(d, count), sum, lanes.reg[r]);
  });
}

/// The sum of f over terms that are contiguous, at least `reduced` at a time.
template <SumOf Of, class T>
Acc<T> add_terms(const SumArgs<T>& g, const T* x, Acc<T> center) {
  Lanes<Acc<T>> lanes;
  for_each<Lanes<Acc<T>>::kRegs>(
      [&](auto r) BIC_INLINED { lanes.reg[r] = hn::Set(Wide<Acc<T>>(), kStart<Of, Acc<T>>); });
  if (g.slow == 1 || g.x_slow == g.reduced) {
    add_piece<Of>(x, g.slow * g.reduced, center, lanes);
  } else {
    for (std::int64_t s = 0; s < g.slow; ++s) {
      add_piece<Of>(x + s * g.x_slow, g.reduced, center, lanes);
    }
  }
  return fold_lanes(lanes, join<Of, Acc<T>>);
}

/// Output [o, j].
template <SumOf Of, class T>
void sum_row(const SumArgs<T>& g, std::int64_t o, std::int64_t j) {
  const T* x = g.x + o * g.x_outer + j * g.x_inner;
  Acc<T> center = 0;
  if (Of == SumOf::kDeviations) center = mean_of(g, add_terms<SumOf::kTerms>(g, x, center));
  write(g, o, j, add_terms<Of>(g, x, center), center);
}

/// Whether `sum_row` sees lane 0 at the start of every contiguous piece.
template <class T>
bool sums_along_rows(const SumArgs<T>& g) {
  const bool whole = g.slow == 1 || g.x_slow == g.reduced || g.reduced % kSumLanes == 0;
  return g.x_reduced == 1 && whole && (g.inner == 1 || g.x_inner != 1);
}

template <SumOf Of, class T>
void sum_outputs(const SumArgs<T>& g, const ParallelFor& parallel) {
  const std::int64_t terms = g.slow * g.reduced;
  const bool rows = sums_along_rows(g);
  const std::int64_t work = g.outer * g.inner * terms;
  std::int64_t width = rows ? 1 : kColumns;
  const bool shared = work >= kSmallWork;
  while (shared && width > 16 && g.outer * ((g.inner + width - 1) / width) < 16) width /= 2;
  const std::int64_t blocks = (g.inner + width - 1) / width;
  const std::int64_t items = g.outer * blocks;
  const std::int64_t each = items_per_task(items, std::min(width, g.inner) * terms);
  run_tasks(parallel, (items + each - 1) / each, work, [&](auto begin, auto end) {
    for (std::int64_t i = begin * each; i < std::min(items, end * each); ++i) {
      const std::int64_t j = i % blocks * width;
      if (rows) {
        sum_row<Of>(g, i / blocks, j);
      } else {
        sum_columns<Of>(g, i / blocks, j, std::min(width, g.inner - j));
      }
    }
  });
}

template <class T>
void sum_all(const SumArgs<T>& g, const ParallelFor& parallel) {
  switch (g.of) {
    case SumOf::kTerms:
      return sum_outputs<SumOf::kTerms>(g, parallel);
    case SumOf::kSizes:
      return sum_outputs<SumOf::kSizes>(g, parallel);
    case SumOf::kSquares:
      return sum_outputs<SumOf::kSquares>(g, parallel);
    case SumOf::kDeviations:
      return sum_outputs<SumOf::kDeviations>(g, parallel);
    case SumOf::kFactors:
      return sum_outputs<SumOf::kFactors>(g, parallel);
  }
}

void sum_f32(const SumArgs<float>& g, const ParallelFor& p) { sum_all(g, p); }
void sum_f64(const SumArgs<double>& g, const ParallelFor& p) { sum_all(g, p); }
void sum_bf16(const SumArgs<hwy::bfloat16_t>& g, const ParallelFor& p) { sum_all(g, p); }
void sum_f16(const SumArgs<hwy::float16_t>& g, const ParallelFor& p) { sum_all(g, p); }

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(sum, SumArgs)
}  // namespace bic::cpu
#endif

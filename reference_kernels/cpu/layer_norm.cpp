#include "reference_kernels/cpu/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/layer_norm.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

template <class A>
struct Moments {
  A mean, rstd;
};

template <class T>
Moments<Acc<T>> moments(const T* x, std::int64_t h, double eps) {
  using A = Acc<T>;
  const Wide<A> d;
  const A mean = sum_contiguous(x, h) / static_cast<A>(h);
  const auto center = hn::Set(d, mean);
  auto squares = zero_lanes<A>();
  // Beyond h stands the mean itself: its difference adds 0.
  for_lanes(x, h, squares, mean, [&](auto v, auto lane) BIC_INLINED {
    const auto diff = hn::Sub(v, center);
    return hn::MulAdd(diff, diff, lane);
  });
  const A variance = fold_lanes(squares) / static_cast<A>(h);
  return {mean, A(1) / std::sqrt(variance + static_cast<A>(eps))};
}

/// Lanes of y. W and B: whether there is a weight, a bias; `load(p)` reads the lanes' part of
/// either.
template <bool W, bool B, class D, class T, class Load>
HWY_INLINE hn::Vec<D> affine(
    D d, hn::Vec<D> x, Moments<hn::TFromD<D>> m, const T* w, const T* b, Load load) {
  const auto t = hn::Mul(hn::Sub(x, hn::Set(d, m.mean)), hn::Set(d, m.rstd));
  if constexpr (W && B) return hn::MulAdd(t, load(w), load(b));
  if constexpr (W) return hn::Mul(t, load(w));
  if constexpr (B) return hn::Add(t, load(b));
  return t;
}

template <bool W, bool B, class T>
void write_row(const LayerNormArgs<T>& g, const T* x, Moments<Acc<T>> m, T* y) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  const T *w = g.weight, *b = g.bias;
  std::int64_t i = 0;
  for (; i + kLanes <= g.h; i += kLanes) {
    const auto load = [&](const T* p) BIC_INLINED { return load_wide(d, p + i); };
    store_rounded(d, affine<W, B>(d, load(x), m, w, b, load), y + i);
  }
  if (i == g.h) return;
  const auto load = [&](const T* p) BIC_INLINED { return load_some(d, p + i, g.h - i); };
  store_some(d, affine<W, B>(d, load(x), m, w, b, load), y + i, g.h - i);
}

template <class T>
void layer_norm_row(const LayerNormArgs<T>& g, std::int64_t row) {
  const T* x = g.x + row * g.x_row;
  T* y = g.y + row * g.y_row;
  const auto m = moments(x, g.h, g.eps);
  if (g.mean) g.mean[row] = round_one<T>(m.mean);
  if (g.rstd) g.rstd[row] = round_one<T>(m.rstd);
  if (g.weight && g.bias) return write_row<true, true>(g, x, m, y);
  if (g.weight) return write_row<true, false>(g, x, m, y);
  if (g.bias) return write_row<false, true>(g, x, m, y);
  write_row<false, false>(g, x, m, y);
}

template <class T>
void layer_norm_all(const LayerNormArgs<T>& g, const ParallelFor& parallel) {
  const std::int64_t each = items_per_task(g.rows, g.h);
  run_tasks(parallel, (g.rows + each - 1) / each, g.rows * g.h, [&](auto begin, auto end) {
    for (std::int64_t r = begin * each; r < std::min(g.rows, end * each); ++r) layer_norm_row(g, r);
  });
}

void layer_norm_f32(const LayerNormArgs<float>& g, const ParallelFor& p) { layer_norm_all(g, p); }
void layer_norm_f64(const LayerNormArgs<double>& g, const ParallelFor& p) { layer_norm_all(g, p); }
void layer_norm_bf16(const LayerNormArgs<hwy::bfloat16_t>& g, const ParallelFor& p) {
  layer_norm_all(g, p);
}
void layer_norm_f16(const LayerNormArgs<hwy::float16_t>& g, const ParallelFor& p) {
  layer_norm_all(g, p);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(layer_norm, LayerNormArgs)
}  // namespace bic::cpu
#endif

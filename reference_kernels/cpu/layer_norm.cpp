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
Moments<Acc<T>> moments(const LayerNormArgs<T>& g, const T* x) {
  using A = Acc<T>;
  const Wide<A> d;
  const std::int64_t h = g.h;
  const A mean = g.center ? sum_contiguous(x, h) / static_cast<A>(h) : A(0);
  const auto center = hn::Set(d, mean);
  auto squares = zero_lanes<A>();
  // Beyond h stands the mean itself: its difference adds 0.
  for_lanes(x, h, squares, mean, [&](auto v, auto lane) BIC_INLINED {
    const auto diff = hn::Sub(v, center);
    return hn::MulAdd(diff, diff, lane);
  });
  const A variance = fold_lanes(squares) / static_cast<A>(h);
  return {mean, A(1) / std::sqrt(variance + static_cast<A>(g.eps))};
}

/// What multiplies the elements of one row and is added to them.
template <class T>
struct Affine {
  const T *weight, *bias;  // null or not as W and B below say
  Affine from(std::int64_t p) const {
    return {weight ? weight + p : nullptr, bias ? bias + p : nullptr};
  }
};

/// y[0, n). `load(p, i, count)` gives the lanes of a weight or bias for elements i, ..., i + count.
template <bool W, bool B, class T, class Load>
HWY_INLINE void write(
    const T* x, std::int64_t n, Moments<Acc<T>> m, Affine<T> affine, T* y, Load load) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  const auto lanes = [&](auto v, std::int64_t i, std::int64_t count) BIC_INLINED {
    const auto t = hn::Mul(hn::Sub(v, hn::Set(d, m.mean)), hn::Set(d, m.rstd));
    if constexpr (W && B) {
      return hn::MulAdd(t, load(affine.weight, i, count), load(affine.bias, i, count));
    } else if constexpr (W) {
      return hn::Mul(t, load(affine.weight, i, count));
    } else if constexpr (B) {
      return hn::Add(t, load(affine.bias, i, count));
    } else {
      return t;
    }
  };
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store_rounded(d, lanes(load_wide(d, x + i), i, kLanes), y + i);
  }
  if (i < n) store_some(d, lanes(load_some(d, x + i, n - i), i, n - i), y + i, n - i);
}

template <bool W, bool B, class T>
void write_row(const LayerNormArgs<T>& g, const T* x, Moments<Acc<T>> m, Affine<T> affine, T* y) {
  const Wide<Acc<T>> d;
  if (g.inner == 1) {
    const auto along = [&](const T* p, std::int64_t i, std::int64_t count) BIC_INLINED {
      return count == kWideLanes<Acc<T>> ? load_wide(d, p + i) : load_some(d, p + i, count);
    };
    return write<W, B>(x, g.h, m, affine, y, along);
  }
  const auto one = [&](const T* p, std::int64_t, std::int64_t)
                       BIC_INLINED { return hn::Set(d, widen(*p)); };
  for (std::int64_t c = 0; c < g.h / g.inner; ++c) {
    write<W, B>(x + c * g.inner, g.inner, m, affine.from(c), y + c * g.inner, one);
  }
}

template <class T>
void layer_norm_row(const LayerNormArgs<T>& g, std::int64_t row) {
  const T* x = g.x + row * g.x_row;
  T* y = g.y + row * g.y_row;
  const auto m = moments(g, x);
  if (g.mean) g.mean[row] = round_one<T>(m.mean);
  if (g.rstd) g.rstd[row] = round_one<T>(m.rstd);
  const auto affine = Affine<T>{g.weight, g.bias}.from(row % g.groups * (g.h / g.inner));
  if (g.weight && g.bias) return write_row<true, true>(g, x, m, affine, y);
  if (g.weight) return write_row<true, false>(g, x, m, affine, y);
  if (g.bias) return write_row<false, true>(g, x, m, affine, y);
  write_row<false, false>(g, x, m, affine, y);
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

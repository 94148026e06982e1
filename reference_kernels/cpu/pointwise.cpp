#include "reference_kernels/cpu/pointwise.h"

#include <algorithm>
#include <array>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/pointwise.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/trig-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// f of vectors of A in the type of d: its own, or double for float, half a vector at a time.
template <class D, class F, class V, class... More>
HWY_INLINE V evaluate(D d, F f, V v, More... more) {
  if constexpr (std::is_same_v<hn::DFromV<V>, D>) {
    return f(d, v, more...);
  } else {
    const hn::DFromV<V> whole;
    const hn::Half<decltype(whole)> half;
    const auto lower = [&](V x) BIC_INLINED { return hn::PromoteTo(d, hn::LowerHalf(half, x)); };
    const auto upper = [&](V x) BIC_INLINED { return hn::PromoteTo(d, hn::UpperHalf(half, x)); };
    const auto low = hn::DemoteTo(half, f(d, lower(v), lower(more)...));
    const auto high = hn::DemoteTo(half, f(d, upper(v), upper(more)...));
    return hn::Combine(whole, high, low);
  }
}

/// y[i] = f(x[i], more[i], ...); the tail goes through the same vector code as the body.
template <class D, class T, class F, class... More>
HWY_INLINE void map(D d, F f, T* y, std::int64_t n, const T* x, const More*... more) {
  const hn::ScalableTag<Acc<T>> a;
  constexpr std::int64_t kLanes = hn::MaxLanes(decltype(a)());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store_rounded(a, evaluate(d, f, load_wide(a, x + i), load_wide(a, more + i)...), y + i);
  }
  const std::int64_t rest = n - i;
  if (rest == 0) return;
  const auto y_rest = evaluate(d, f, load_some(a, x + i, rest), load_some(a, more + i, rest)...);
  store_some(a, y_rest, y + i, rest);
}

template <class Function, class D = hn::ScalableTag<double>, class T>
void apply(const T* x, T* y, std::int64_t n) {
  map(
      D(), [](auto d, auto v) BIC_INLINED { return Function::apply(d, v); }, y, n, x);
}

template <class T>
void apply(PointwiseFunction function, const T* x, T* y, std::int64_t n) {
  using R = Acc<T>;
  switch (function) {
    case PointwiseFunction::kSilu:
      return apply<Silu<R>>(x, y, n);
    case PointwiseFunction::kSigmoid:
      return apply<Sigmoid<R>>(x, y, n);
    case PointwiseFunction::kTanh:
      return apply<Tanh<R>>(x, y, n);
    case PointwiseFunction::kExp:
      return apply<Exp<R>>(x, y, n);
    case PointwiseFunction::kLog:
      return apply<Log<R>>(x, y, n);
    case PointwiseFunction::kRsqrt:
      return apply<Rsqrt, hn::ScalableTag<R>>(x, y, n);
    case PointwiseFunction::kSin:
      return apply<Sine<R, 0>>(x, y, n);
    case PointwiseFunction::kCos:
      return apply<Sine<R, 1>>(x, y, n);
  }
}

/// Blocks begin on cache lines.
void run_blocks(std::int64_t n,
                const ParallelFor& parallel,
                const std::function<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t block = std::max(kTaskWork, n / kManyTasks / 64 * 64);
  run_tasks(parallel, (n + block - 1) / block, n, [&](auto begin, auto end) {
    const std::int64_t first = begin * block;
    body(first, std::min(n, end * block) - first);
  });
}

template <class T>
void pointwise_all(const PointwiseArgs<T>& a, const ParallelFor& parallel) {
  run_blocks(a.n, parallel, [&](std::int64_t first, std::int64_t count) {
    apply(a.function, a.x + first, a.y + first, count);
  });
}

template <class T>
void scaled_sum_all(const ScaledSumArgs<T>& a, const ParallelFor& parallel) {
  const hn::ScalableTag<Acc<T>> d;
  const auto alpha = static_cast<Acc<T>>(a.alpha);
  run_blocks(a.n, parallel, [&](std::int64_t first, std::int64_t count) {
    const auto f = [alpha](auto tag, auto x, auto o)
                       BIC_INLINED { return hn::MulAdd(hn::Set(tag, alpha), o, x); };
    map(d, f, a.y + first, count, a.x + first, a.other + first);
  });
}

template <class T>
void power_all(const PowerArgs<T>& a, const ParallelFor& parallel) {
  const hn::ScalableTag<double> d;
  run_blocks(a.n, parallel, [&](std::int64_t first, std::int64_t count) {
    const T* const x = a.x + first;
    T* const y = a.y + first;
    const double e = a.exponent;
    if (a.exponents != nullptr) {
      const auto f = [](auto tag, auto v, auto w) BIC_INLINED { return power<Acc<T>>(tag, v, w); };
      return map(d, f, y, count, x, a.exponents + first);
    }
    if (e == 2) {
      return map(
          d, [](auto, auto v) BIC_INLINED { return hn::Mul(v, v); }, y, count, x);
    }
    if (e == 3) {
      const auto cube = [](auto, auto v) BIC_INLINED { return hn::Mul(hn::Mul(v, v), v); };
      return map(d, cube, y, count, x);
    }
    const auto f = [e](auto tag, auto v)
                       BIC_INLINED { return power<Acc<T>>(tag, v, hn::Set(tag, e)); };
    map(d, f, y, count, x);
  });
}

void pointwise_f32(const PointwiseArgs<float>& a, const ParallelFor& p) { pointwise_all(a, p); }
void pointwise_f64(const PointwiseArgs<double>& a, const ParallelFor& p) { pointwise_all(a, p); }
void pointwise_bf16(const PointwiseArgs<hwy::bfloat16_t>& a, const ParallelFor& p) {
  pointwise_all(a, p);
}
void pointwise_f16(const PointwiseArgs<hwy::float16_t>& a, const ParallelFor& p) {
  pointwise_all(a, p);
}
void power_f32(const PowerArgs<float>& a, const ParallelFor& p) { power_all(a, p); }
void power_f64(const PowerArgs<double>& a, const ParallelFor& p) { power_all(a, p); }
void power_bf16(const PowerArgs<hwy::bfloat16_t>& a, const ParallelFor& p) { power_all(a, p); }
void power_f16(const PowerArgs<hwy::float16_t>& a, const ParallelFor& p) { power_all(a, p); }
void scaled_sum_f32(const ScaledSumArgs<float>& a, const ParallelFor& p) { scaled_sum_all(a, p); }
void scaled_sum_f64(const ScaledSumArgs<double>& a, const ParallelFor& p) { scaled_sum_all(a, p); }
void scaled_sum_bf16(const ScaledSumArgs<hwy::bfloat16_t>& a, const ParallelFor& p) {
  scaled_sum_all(a, p);
}
void scaled_sum_f16(const ScaledSumArgs<hwy::float16_t>& a, const ParallelFor& p) {
  scaled_sum_all(a, p);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(pointwise, PointwiseArgs)
BIC_CPU_EXPORT(power, PowerArgs)
BIC_CPU_EXPORT(scaled_sum, ScaledSumArgs)
}  // namespace bic::cpu
#endif

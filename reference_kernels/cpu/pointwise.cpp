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

/// Elements of p as numbers of d's type: those of the arithmetic's type, or widened to double.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_as(D d, const T* p) {
  if constexpr (std::is_same_v<hn::TFromD<D>, Acc<T>>) {
    return load_wide(d, p);
  } else {
    return hn::PromoteTo(d, load_wide(hn::Rebind<float, D>(), p));
  }
}

template <class D, class T>
HWY_INLINE void store_as(D d, hn::Vec<D> v, T* p) {
  if constexpr (std::is_same_v<hn::TFromD<D>, Acc<T>>) {
    store_rounded(d, v, p);
  } else {
    const hn::Rebind<float, D> df;
    store_rounded(df, hn::DemoteTo(df, v), p);
  }
}

/// y[i] = f(load(i)); the tail goes through the same vector code as the body.
template <class D, class T, class F>
HWY_INLINE void map(D d, F f, const T* x, T* y, std::int64_t n) {
  constexpr std::int64_t kLanes = hn::MaxLanes(D());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store_as(d, f(d, load_as(d, x + i)), y + i);
  if (i == n) return;
  T tail[kLanes] = {};
  std::memcpy(static_cast<void*>(tail), x + i, (n - i) * sizeof(T));
  store_as(d, f(d, load_as(d, tail)), tail);
  std::memcpy(static_cast<void*>(y + i), tail, (n - i) * sizeof(T));
}

template <class Function, class D = hn::ScalableTag<double>, class T>
void apply(const T* x, T* y, std::int64_t n) {
  map(
      D(), [](auto d, auto v) BIC_INLINED { return Function::apply(d, v); }, x, y, n);
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

/// As `map`, of two operands.
template <class D, class T, class F>
HWY_INLINE void map_pairs(D d, F f, const T* x, const T* o, T* y, std::int64_t n) {
  constexpr std::int64_t kLanes = hn::MaxLanes(D());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store_as(d, f(d, load_as(d, x + i), load_as(d, o + i)), y + i);
  }
  if (i == n) return;
  T first[kLanes] = {}, second[kLanes] = {};
  std::memcpy(static_cast<void*>(first), x + i, (n - i) * sizeof(T));
  std::memcpy(static_cast<void*>(second), o + i, (n - i) * sizeof(T));
  store_as(d, f(d, load_as(d, first), load_as(d, second)), first);
  std::memcpy(static_cast<void*>(y + i), first, (n - i) * sizeof(T));
}

template <class T>
void scaled_sum_all(const ScaledSumArgs<T>& a, const ParallelFor& parallel) {
  const hn::ScalableTag<Acc<T>> d;
  const auto alpha = static_cast<Acc<T>>(a.alpha);
  run_blocks(a.n, parallel, [&](std::int64_t first, std::int64_t count) {
    const auto f = [alpha](auto tag, auto x, auto o)
                       BIC_INLINED { return hn::MulAdd(hn::Set(tag, alpha), o, x); };
    map_pairs(d, f, a.x + first, a.other + first, a.y + first, count);
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
      return map_pairs(d, f, x, a.exponents + first, y, count);
    }
    if (e == 2) {
      return map(
          d, [](auto, auto v) BIC_INLINED { return hn::Mul(v, v); }, x, y, count);
    }
    if (e == 3) {
      const auto cube = [](auto, auto v) BIC_INLINED { return hn::Mul(hn::Mul(v, v), v); };
      return map(d, cube, x, y, count);
    }
    const auto f = [e](auto tag, auto v)
                       BIC_INLINED { return power<Acc<T>>(tag, v, hn::Set(tag, e)); };
    map(d, f, x, y, count);
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

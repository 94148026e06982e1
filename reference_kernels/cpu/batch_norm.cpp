#include "reference_kernels/cpu/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/batch_norm.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Channels of fewer elements are walked together, their parameters repeated: no bit depends on it.
inline constexpr std::int64_t kShort = 64;

/// What is done to the elements of each channel, or to each element of a sample when channels are
/// short.
template <class A>
struct Channels {
  std::vector<A> mean, scale, bias;
};

template <class T>
Channels<Acc<T>> channels_of(const BatchNormArgs<T>& g, std::int64_t repeats) {
  using A = Acc<T>;
  const std::int64_t size = g.channels * repeats;
  Channels<A> all{std::vector<A>(size), std::vector<A>(size), std::vector<A>(size)};
  for (std::int64_t c = 0; c < g.channels; ++c) {
    const A rstd = A(1) / std::sqrt(widen(g.variance[c]) + static_cast<A>(g.eps));
    std::fill_n(&all.mean[c * repeats], repeats, widen(g.mean[c]));
    std::fill_n(&all.scale[c * repeats], repeats, g.weight ? rstd * widen(g.weight[c]) : rstd);
    std::fill_n(&all.bias[c * repeats], repeats, g.bias ? widen(g.bias[c]) : A(0));
  }
  return all;
}

/// y[0, n). `load(p, i, count)` gives the lanes of a parameter for elements i, ..., i + count.
template <class T, class Load>
HWY_INLINE void write(const T* x,
                      std::int64_t n,
                      const Acc<T>* mean,
                      const Acc<T>* scale,
                      const Acc<T>* bias,
                      T* y,
                      Load load) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  const auto lanes = [&](auto v, std::int64_t i, std::int64_t count) BIC_INLINED {
    return hn::MulAdd(
        hn::Sub(v, load(mean, i, count)), load(scale, i, count), load(bias, i, count));
  };
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store_rounded(d, lanes(load_wide(d, x + i), i, kLanes), y + i);
  }
  if (i < n) store_some(d, lanes(load_some(d, x + i, n - i), i, n - i), y + i, n - i);
}

/// Rows [begin, end): with `along` a sample is a row of `length`, each element with parameters of
/// its own; else a channel is.
template <class T>
void write_rows(const BatchNormArgs<T>& g,
                const Channels<Acc<T>>& channels,
                bool along,
                std::int64_t begin,
                std::int64_t end) {
  using A = Acc<T>;
  const Wide<A> d;
  const A *mean = channels.mean.data(), *scale = channels.scale.data(),
          *bias = channels.bias.data();
  const auto each = [&](const A* p, std::int64_t i, std::int64_t count) BIC_INLINED {
    return count == kWideLanes<A> ? hn::LoadU(d, p + i) : load_some(d, p + i, count);
  };
  const auto one = [&](const A* p, std::int64_t, std::int64_t)
                       BIC_INLINED { return hn::Set(d, *p); };
  const std::int64_t length = along ? g.channels * g.inner : g.inner;
  for (std::int64_t r = begin; r < end; ++r) {
    const T* x = g.x + r * length;
    T* y = g.y + r * length;
    if (along) {
      write(x, length, mean, scale, bias, y, each);
    } else {
      const std::int64_t c = r % g.channels;
      write(x, length, mean + c, scale + c, bias + c, y, one);
    }
  }
}

template <class T>
void batch_norm_all(const BatchNormArgs<T>& g, const ParallelFor& parallel) {
  if (g.channels == 0 || g.inner == 0) return;
  const bool along = g.inner < kShort;
  const auto channels = channels_of(g, along ? g.inner : 1);
  const std::int64_t rows = along ? g.outer : g.outer * g.channels;
  const std::int64_t length = along ? g.channels * g.inner : g.inner;
  const std::int64_t each = items_per_task(rows, length);
  run_tasks(parallel, (rows + each - 1) / each, rows * length, [&](auto begin, auto end) {
    write_rows(g, channels, along, begin * each, std::min(rows, end * each));
  });
}

void batch_norm_f32(const BatchNormArgs<float>& g, const ParallelFor& p) { batch_norm_all(g, p); }
void batch_norm_f64(const BatchNormArgs<double>& g, const ParallelFor& p) { batch_norm_all(g, p); }
void batch_norm_bf16(const BatchNormArgs<hwy::bfloat16_t>& g, const ParallelFor& p) {
  batch_norm_all(g, p);
}
void batch_norm_f16(const BatchNormArgs<hwy::float16_t>& g, const ParallelFor& p) {
  batch_norm_all(g, p);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(batch_norm, BatchNormArgs)
}  // namespace bic::cpu
#endif

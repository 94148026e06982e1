#include "reference_kernels/cpu/gelu.h"

#include <algorithm>

#include "reference_kernels/cpu/tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/gelu.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

struct Erf {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    return gelu_erf(d, x);
  }
};
struct Tanh {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    return gelu_tanh(d, x);
  }
};

/// y[i] = f(x[i]); the tail goes through the same vector code as the body.
template <class Function, class T>
void map(const T* x, T* y, std::int64_t n) {
  const Wide<Acc<T>> d;
  constexpr std::int64_t kLanes = kWideLanes<Acc<T>>;
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store_rounded(d, Function::apply(d, load_wide(d, x + i)), y + i);
  if (i < n) store_some(d, Function::apply(d, load_some(d, x + i, n - i)), y + i, n - i);
}

template <class T>
void gelu_all(const GeluArgs<T>& g, const ParallelFor& parallel) {
  // Blocks begin on cache lines.
  const std::int64_t block = std::max(kTaskWork, g.n / kManyTasks / 64 * 64);
  run_tasks(parallel, (g.n + block - 1) / block, g.n, [&](auto begin, auto end) {
    const std::int64_t first = begin * block, count = std::min(g.n, end * block) - first;
    if (g.form == GeluForm::kErf) {
      map<Erf>(g.x + first, g.y + first, count);
    } else {
      map<Tanh>(g.x + first, g.y + first, count);
    }
  });
}

void gelu_f32(const GeluArgs<float>& g, const ParallelFor& p) { gelu_all(g, p); }
void gelu_f64(const GeluArgs<double>& g, const ParallelFor& p) { gelu_all(g, p); }
void gelu_bf16(const GeluArgs<hwy::bfloat16_t>& g, const ParallelFor& p) { gelu_all(g, p); }
void gelu_f16(const GeluArgs<hwy::float16_t>& g, const ParallelFor& p) { gelu_all(g, p); }

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(gelu, GeluArgs)
}  // namespace bic::cpu
#endif

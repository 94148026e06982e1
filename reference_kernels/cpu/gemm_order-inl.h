// The order in which gemm adds, and what follows the sum: shared by its three kernels. Compiled
// once a target; the guard is Highway's.
#if defined(BIC_CPU_GEMM_ORDER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_GEMM_ORDER_INL_H_
#undef BIC_CPU_GEMM_ORDER_INL_H_
#else
#define BIC_CPU_GEMM_ORDER_INL_H_
#endif

#include <hwy/aligned_allocator.h>

#include <algorithm>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Bytes of packed A kept at a time.
inline constexpr std::int64_t kPackedBytes = 8 << 20;

/// Where term k of a dot product is added: part of the order, changing it changes the bits.
template <class T>
struct ChainOrder {
  /// 64 bytes of accumulators: one AVX-512 register, two of AVX2, four of the baseline.
  static constexpr int kLanes = 64 / sizeof(Acc<T>);
  /// A lane takes the two bf16 of one 32-bit word, the odd one first (as VDPBF16PS does).
  static constexpr int kPerLane = std::is_same_v<T, hwy::bfloat16_t> ? 2 : 1;
  static constexpr int kStep = kLanes * kPerLane;

  static std::int64_t steps(std::int64_t k) { return (k + kStep - 1) / kStep; }
  /// Terms of one lane's chain, the zeros that fill the last step included.
  static std::int64_t length(std::int64_t k) { return steps(k) * kPerLane; }
  static int lane(std::int64_t k) { return static_cast<int>(k % kStep / kPerLane); }
  static std::int64_t place(std::int64_t k) {
    return k / kStep * kPerLane + (kPerLane - 1 - k % kPerLane);
  }
};

/// Sums over the lanes to y[i, j .. j + lanes), of which the first `cols` exist: + 0.0 (a sum of
/// underflows may be -0, which appended zeros would make +0), * alpha, + beta * bias, NaN made
/// canonical, one rounding.
template <class D, class T>
HWY_INLINE void finish(
    D d, hn::Vec<D> sum, const GemmArgs<T>& g, std::int64_t i, std::int64_t j, std::int64_t cols) {
  using A = hn::TFromD<D>;
  if (cols <= 0) return;
  const bool whole = HWY_LIKELY(cols >= static_cast<std::int64_t>(hn::MaxLanes(d)));
  auto v = hn::Mul(hn::Add(sum, hn::Zero(d)), hn::Set(d, static_cast<A>(g.alpha)));
  if (g.bias != nullptr) {
    const T* c = g.bias + i * g.bias_row + j * g.bias_n;
    const auto x = g.bias_n == 0 ? hn::Set(d, widen(*c))
                   : whole       ? load_wide(d, c)
                                 : load_some(d, c, cols);
    v = hn::Add(v, hn::Mul(x, hn::Set(d, static_cast<A>(g.beta))));
  }
  T* y = g.y + i * g.y_row + j;
  if (whole) {
    store_rounded(d, v, y);
  } else {
    store_some(d, v, y, cols);
  }
}

/// A buffer of the calling thread that keeps its size from call to call. One `Use`, one buffer.
template <class Use, class A>
A* scratch(std::int64_t count) {
  static thread_local hwy::AlignedFreeUniquePtr<std::uint8_t[]> buffer;
  static thread_local std::int64_t size = 0;
  const auto bytes = static_cast<std::int64_t>(count * sizeof(A));
  if (size < bytes) {
    buffer = hwy::AllocateAligned<std::uint8_t>(bytes);
    size = bytes;
  }
  return reinterpret_cast<A*>(buffer.get());
}

/// Batches b .. b + count of g.
template <class T>
GemmArgs<T> some_batches(const GemmArgs<T>& g, std::int64_t b, std::int64_t count) {
  GemmArgs<T> some = g;
  some.a += b * g.a_batch;
  some.w += b * g.w_batch;
  some.y += b * g.y_batch;
  if (g.bias != nullptr) some.bias += b * g.bias_batch;
  some.batch = count;
  return some;
}

/// Stops GCC from turning one load that feeds several operations into several loads.
template <class V>
HWY_INLINE void keep_in_register([[maybe_unused]] V& v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(v.raw));
#endif
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

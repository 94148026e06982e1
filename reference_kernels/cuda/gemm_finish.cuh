#pragma once

#include <cstdint>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cuda/element.cuh"
#include "reference_kernels/cuda/rounded.cuh"

// How every kernel behind gemm makes an element of y from its sum.

namespace bic::cuda {

/// One rounding, to nearest even. NaN is that of the type's conversion: 0x7FFF of the 16-bit types,
/// which cuBLASLt writes too, else the canonical one.
template <class E>
__device__ void round_product(E& y, Accumulator<E> v) {
  store(y, v);
}
template <>
__device__ inline void round_product(__nv_bfloat16& y, float v) {
  y = __float2bfloat16_rn(v);
}
template <>
__device__ inline void round_product(__half& y, float v) {
  y = __float2half_rn(v);
}

/// alpha * sum (+ beta * bias, if the product has one), not yet rounded to E.
template <class E>
__device__ Accumulator<E> scaled(const cpu::GemmArgs<E>& g, Accumulator<E> sum, const E& bias) {
  using A = Accumulator<E>;
  const A value = mul(static_cast<A>(g.alpha), sum);
  if (g.bias == nullptr) return value;
  return add(value, mul(static_cast<A>(g.beta), load(bias)));
}

/// From the sum of all chunks to y.
template <class E>
__device__ void finish(const cpu::GemmArgs<E>& g,
                       std::int64_t batch,
                       std::int64_t i,
                       std::int64_t j,
                       Accumulator<E> sum) {
  if (i >= g.m || j >= g.n) return;
  E bias{};
  if (g.bias != nullptr) bias = g.bias[batch * g.bias_batch + i * g.bias_row + j * g.bias_n];
  round_product(g.y[batch * g.y_batch + i * g.y_row + j], scaled(g, sum, bias));
}

}  // namespace bic::cuda

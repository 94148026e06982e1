#pragma once

#include "reference_kernels/cpu/pointwise.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// y[i] = f(x[i]), y[i] = x[i]^e[i] and y[i] = x[i] + alpha o[i]
//
// Shapes       n contiguous elements each; y may be an input.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; double in double, the others in
//              float (an exponent given for all and alpha too), then one rounding to T, to nearest
//              even.
// Accuracy     In the type of the arithmetic, before that rounding: exp, log, sin, cos and tanh at
//              most 2 ulp, silu and sigmoid 4, pow 4 (double: 2), as CUDA's programming guide
//              states them of its functions and IEEE of sums and quotients; rsqrt 1.5. Of any
//              argument. Powers 2 and 3 given for all are products; sums are fused multiply-adds.
//              Underflow is gradual.
// NaN, Inf     As in C; silu(-Inf) is NaN, as in ATen. Every NaN is the canonical one of T.
// Order        None. Few elements run another kernel of the same function; the bits are the same,
//              for no operation of ours is contracted.
// Invariant    y[i] is a function of x[i], e[i] or o[i], alpha and T alone.
// Not claimed  The bits of the CPU's kernels, which compute in double; equal bits of another
//              release of CUDA, whose functions may change.
// Checked by   reference_kernels/cuda/pointwise_test.cpp
template <class T>
void pointwise(const cpu::PointwiseArgs<T>& args, const Launch& launch);
template <class T>
void power(const cpu::PowerArgs<T>& args, const Launch& launch);
template <class T>
void scaled_sum(const cpu::ScaledSumArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

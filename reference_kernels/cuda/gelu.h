#pragma once

#include "reference_kernels/cpu/gelu.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// kErf   y = x Phi(x), Phi the normal distribution function (arXiv:1606.08415)
// kTanh  y = x / 2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//
// Shapes, dtypes, accuracy, NaN, Inf and invariant as in reference_kernels/cpu/gelu.h: at most 6
// ulp (kErf) or 4 ulp (kTanh) off in the type of the arithmetic, then one rounding to T.
//
// Order        None. The operations are those of the CPU's kernel one by one: products, sums, fused
//              multiply-adds and quotients, each rounded to nearest even, and no function of
//              CUDA's.
// Invariant    y[i] is a function of x[i] and T alone, and has the bits of the CPU's kernel on AVX2
//              and AVX-512. Few elements run another kernel of the same function.
// Checked by   reference_kernels/cuda/gelu_test.cpp
template <class T>
void gelu(const cpu::GeluArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

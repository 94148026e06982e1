#pragma once

#include "reference_kernels/cpu/batch_norm.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// y[o,c,i] = (x[o,c,i] - mean[c]) * s[c] + bias[c], s[c] = 1 / sqrt(variance[c] + eps) * weight[c]
//
// Shapes, dtypes, special values and order as in reference_kernels/cpu/batch_norm.h. The s[c] are
// computed first, into scratch memory.
//
// Invariant    An element of y is a function of the element of x, its channel's parameters, eps and
//              T alone, and has the bits of the CPU's kernel on AVX2 and AVX-512.
// Source       arXiv:1502.03167.
// Checked by   reference_kernels/cuda/batch_norm_test.cpp
template <class T>
void batch_norm(const cpu::BatchNormArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

#pragma once

#include "reference_kernels/cpu/convolution.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// y[b,o,i,j] = sum_cuv x[b, c, i s + u d - p, j s + v d - p] * filters[o,c,u,v] (+ bias[o]), zeros
// beside the image
//
// Shapes       Those of reference_kernels/cpu/convolution.h. Pointers are the device's.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t, as gemm.h.
// Order        That of gemm.h over k = (c, u, v), row-major, taps beside the image included as
//              zeros.
// Invariant    The bits of y[b,o,i,j] are a function of what that output sees of image b, of filter
//              o, of bias[o] and T alone: not of batch, n, groups, extents, alignment or strides.
//              Zeros appended to the channels of both operands change no bit.
// Not claimed  The bits of the CPU's convolution; what gemm.h does not claim.
// Memory       What each output sees stands in scratch memory, at most some 256 MiB of it at a
//              time: pieces of the batch, or of one image's outputs.
// Source       im2col (Chellapilla et al., 2006), then gemm.h, whose error bound holds.
// Checked by   reference_kernels/cuda/convolution_test.cpp
template <class T>
void convolution(const cpu::ConvolutionArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

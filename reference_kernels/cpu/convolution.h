#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// One spatial axis.
struct ConvolutionAxis {
  std::int64_t in = 1, taps = 1, out = 1;  ///< extents of image, filter and result
  std::int64_t stride = 1, padding = 0, dilation = 1;
};

/// Operands of `convolution`; one dimension has h as it is here. Strides count elements.
template <class T>
struct ConvolutionArgs {
  const T* x = nullptr;        ///< [batch, groups * channels, h.in, w.in], at these strides
  const T* filters = nullptr;  ///< [groups * n, channels, h.taps, w.taps], row-major
  const T* bias = nullptr;     ///< [groups * n] or null
  T* y = nullptr;              ///< [batch, groups * n, h.out, w.out], row-major
  std::int64_t batch = 1, groups = 1, channels = 1, n = 1;
  ConvolutionAxis h, w;
  std::int64_t x_batch = 0, x_channel = 0, x_h = 0, x_w = 1;
};

// y[b,o,i,j] = sum_cuv x[b, c, i s + u d - p, j s + v d - p] * filters[o,c,u,v] (+ bias[o]), zeros
// beside the image
//
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t, as gemm.h.
// Order        That of gemm.h over k = (c, u, v), row-major, taps beside the image included as
//              zeros; subnormals too are as there.
// Invariant    The bits of y[b,o,i,j] are a function of what that output sees of image b, of filter
//              o, of bias[o] and T alone: not of batch, n, extents, threads, alignment or strides.
//              Zeros appended to the channels of both operands change no bit.
// Threads      Below 131072 multiply-adds no task is handed to `parallel`.
// Source       Direct: images are laid out so that a term of neighbouring outputs is a vector in
//              memory (convolution_layout.h), instead of im2col (Chellapilla et al., 2006), which
//              copies an input once for every tap.
// Checked by   reference_kernels/cpu/convolution_test.cpp
template <class T>
void convolution(const ConvolutionArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

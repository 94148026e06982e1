#pragma once

#include <cuda_runtime.h>

// Operations that are rounded one by one, to nearest even: nvcc contracts none of these into
// another, whatever stands around it, so two pieces of code that say the same give the same bits.

namespace bic::cuda {

__device__ inline float add(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double add(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float sub(float a, float b) { return __fsub_rn(a, b); }
__device__ inline double sub(double a, double b) { return __dsub_rn(a, b); }
__device__ inline float mul(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double mul(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float div(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double div(double a, double b) { return __ddiv_rn(a, b); }
/// a * b + c.
__device__ inline float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ inline float root(float a) { return __fsqrt_rn(a); }
__device__ inline double root(double a) { return __dsqrt_rn(a); }

/// 1 / sqrt(a), the root and the quotient rounded.
template <class A>
__device__ A reciprocal_root(A a) {
  return div(A(1), root(a));
}

}  // namespace bic::cuda

#pragma once

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// y[b,i,j] = alpha * sum_k a[b,i,k] * w[b,k,j] (+ beta * bias[b,i,j])
//
// Shapes       Those of reference_kernels/cpu/gemm.h: any extents and strides, also 0; the last
//              stride of y is 1. Pointers are the device's.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t. Sums and what follows them are in
//              double for double, else float. One rounding to T, to nearest even. NaN outputs are
//              the canonical quiet NaN of float and double; of the 16-bit types 0x7FFF, the NaN of
//              the device's conversions.
// Order        k is cut into chunks, whatever its extent: of 256 for float and double, of 2048 for
//              the 16-bit types. Each has a sum of its own from +0: of float and double one chain
//              of fused multiply-adds, k ascending; of the 16-bit types one chain of
//              mma.sync.m16n8k16 with fp32 sums, 16 k a step, ascending, zeros in place of what is
//              missing of the last. Then, from +0, the sums of chunks 0, 1, 2, ... are added one
//              after the other (so no sum is -0); then times alpha; then + (beta * bias[b,i,j]),
//              three roundings that alpha = beta = 1 makes one.
// Invariant    The bits of y[b,i,j] are a function of row (b,i) of a, column (b,j) of w,
//              bias[b,i,j], alpha, beta, k and T alone: not of m, n, batch, i, j, alignment,
//              strides, NT or NN, capture of the stream, nor of which kernel or CTA has which
//              chunk. Zeros appended to k in both operands change no bit.
// Kernels      Of the 16-bit types whichever is fastest: own ones by mma.sync and by wgmma, which
//              sum alike, and cuBLASLt's, of which an algorithm is used only when it has given the
//              bits of the own ones on samples, on this device and in this process (gemm_lt.h).
// Not claimed  The bits of the CPU's gemm. Of the 16-bit types the bits of another GPU
//              architecture: how an mma adds its 16 exact products to the sum is the hardware's
//              own. That neither an element's place in an mma nor the instruction that forms it
//              matters is no vendor's promise; the tests show it.
// Source       The order is ours; the error bound, for alpha = beta = 1, is gamma_(256 + K/256 + 1)
//              sum |a||w| of float and double (Higham 2002, 3.1). An mma aligns its terms to the
//              largest and truncates, so that u is 2^-23 there and a step of 16 counts as 18
//              roundings at most (Fasi, Higham, Mikaitis, Pranesh 2021): with u = 2^-23,
//              gamma_(2304 + K/2048 + 1), or gamma_(K + 2) where that is less.
// Checked by   reference_kernels/cuda/gemm_test.cpp, gemm_paths_test.cpp
template <class T>
void gemm(const cpu::GemmArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

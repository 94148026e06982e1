#pragma once

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cuda/launch.h"

// gemm of hwy::bfloat16_t and hwy::float16_t by cuBLASLt, in the order and with the bits of gemm.h.
//
// Of the library's algorithms its Hopper (wgmma) ones without a split of K sum k16 steps in one
// chain, as gemm_mma does, whatever their tile, cluster and stages. Nobody promises that: each is
// run before its first use on operands that show the order of a sum, and taken only when it gives
// the bits of gemm_mma (gemm_lt_class.h). Measured on an H200 with cuBLASLt 13.1.
//
// No extent of y is 0. False, with nothing queued, where other kernels must serve: the operands do
// not fit, this device and library have no verified algorithm, or none was looked for yet and the
// stream is being captured.
// Checked by reference_kernels/cuda/gemm_lt_test.cpp, gemm_lt_class_test.cpp, gemm_paths_test.cpp

namespace bic::cuda {

/// Whether wgmma is known to sum as gemm_mma does: this device and library have verified
/// algorithms, which are made of it.
template <class T>
bool wgmma_has_our_bits(const Launch& launch);

/// y in one call, which rounds to T itself: of k within a chunk, operands aligned to 16 bytes with
/// a_k = 1, w_k = 1 or w_n = 1, n and k multiples of 8, and bias, if any, one row common to all
/// with alpha = beta = 1.
template <class T>
bool gemm_lt_directly(const cpu::GemmArgs<T>& args, const Launch& launch);

/// Any operands and k: what does not fit is copied into scratch, byte for byte; chunk by chunk a
/// call adds to fp32 sums in scratch, which are then rounded. What of it the class does not serve
/// goes to gemm_mma.
template <class T>
bool gemm_lt_by_sums(const cpu::GemmArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

#pragma once

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

/// What a CTA of gemm_wgmma has of y: 128 x 192 or 128 x 128, alone or with a second CTA that has
/// the same columns; or 128 x 128 and one chunk of k (at most 8 of them).
enum class WgmmaShape { kByExtents, kWide, kWidePair, kNarrow, kNarrowPair, kSpread };

// gemm.h's product by Hopper's wgmma, for many rows
//
// Shapes       batch = 1; m > 64; n >= 64; k > 0; a_k = 1; w_k = 1 (NT) or w_n = 1 (NN); operands
//              aligned to 16 bytes, lines 8 elements or a multiple apart and not overlapping. bias
//              and y of any strides, the last of y 1.
// Dtypes       hwy::bfloat16_t, hwy::float16_t.
// Order        gemm.h's, with wgmma.m64nNk16 in place of mma.sync.m16n8k16: 16 k a step, ascending,
//              from +0 in every chunk; zeros in place of what is missing of the last step.
// Invariant    As gemm.h. Which kernel, tile or cluster serves a product follows from m, n, k and
//              the device, and changes no bit.
// Source       That both instructions have the same bits was measured on an H200, where
//              cuBLASLt's have them too; no vendor promises it.
// Checked by   reference_kernels/cuda/gemm_wgmma_test.cpp

/// Queues the product and returns true; or returns false, with nothing queued, for what is not of
/// these shapes, of another device than Hopper, or too long for a shape asked for.
template <class T>
bool gemm_wgmma(const cpu::GemmArgs<T>& args,
                const Launch& launch,
                WgmmaShape shape = WgmmaShape::kByExtents);

}  // namespace bic::cuda

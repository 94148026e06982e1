#pragma once

#include <cstdint>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cuda/launch.h"

// The kernels behind gemm. No extent of y is 0. Those of the 16-bit types give the same bits: gemm
// takes what is fastest, tests take each.

namespace bic::cuda {

/// k of a chunk; part of the order: changing it changes the bits.
inline constexpr std::int64_t kWideChunk = 256;     ///< of float and double
inline constexpr std::int64_t kNarrowChunk = 2048;  ///< of the 16-bit types

/// On CUDA cores: float and double.
template <class T>
void gemm_simt(const cpu::GemmArgs<T>& args, const Launch& launch);

/// What a CTA of gemm_mma has of y: 16 x 64, 16 x 16, 64 x 32, 64 x 64 or 128 x 128.
enum class MmaShape { kByExtents, kFlat, kThin, kSlim, kMedium, kLarge };

/// On tensor cores, by mma.sync: hwy::bfloat16_t and hwy::float16_t, any operands.
template <class T>
void gemm_mma(const cpu::GemmArgs<T>& args,
              const Launch& launch,
              MmaShape shape = MmaShape::kByExtents);

/// The sums of gemm_mma before alpha, dense as [batch, m, n]; nothing is written to y.
template <class T>
void gemm_mma_sums(const cpu::GemmArgs<T>& args, float* sums, const Launch& launch);

}  // namespace bic::cuda

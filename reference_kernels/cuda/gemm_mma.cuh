#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "reference_kernels/cuda/gemm_kernel.cuh"
#include "reference_kernels/cuda/mma.cuh"

// Tiles of gemm's 16-bit elements in shared memory.

namespace bic::cuda {

/// A tile's element (line, at) in lines of kWidth: pieces of 16 bytes change places within eight,
/// or within as many as a line has, so that the same piece of eight lines, as ldmatrix reads it,
/// lies in different banks.
template <int kWidth>
__device__ inline int swizzled(int line, int at) {
  constexpr int kPieces =
      kWidth < 64 ? kWidth / 8 : 8;  // of which 8 / kPieces lines fill the banks
  static_assert(kPieces == 2 || kPieces == 4 || kPieces == 8);
  return line * kWidth + ((at / 8) ^ (line / (8 / kPieces) % kPieces)) * 8 + at % 8;
}

/// Lines of an operand: element (line, at) is first[line * line_stride + at * step].
struct Lines {
  const std::uint16_t* first;
  std::int64_t line_stride, step;
  std::int64_t lines, width;  ///< as many as there are
};

/// A tile of kLines x kWidth by copies of kBytes; step is 1. Zeros beyond the operand's end.
template <int kLines, int kWidth, int kThreads, int kBytes>
__device__ void copy_lines(std::uint16_t* tile, const Lines& x) {
  constexpr int kEach = kBytes / 2, kAcross = kWidth / kEach, kLineStep = kThreads / kAcross;
  constexpr int kUnroll = kBytes == 16 ? kLines / kLineStep : 1;  // the others are for odd strides
  static_assert(kThreads % kAcross == 0 && kLines % kLineStep == 0);
  int line = threadIdx.x / kAcross;
  const int at = threadIdx.x % kAcross * kEach;
  const std::int64_t left = x.width - at;
  const int valid = left >= kEach ? kBytes : left > 0 ? 2 * static_cast<int>(left) : 0;
  const std::uint16_t* from = x.first + line * x.line_stride + at;
#pragma unroll kUnroll
  for (int i = 0; i < kLines / kLineStep; ++i) {
    copy_async<kBytes>(tile + swizzled<kWidth>(line, at), from, line < x.lines ? valid : 0);
    line += kLineStep;
    from += kLineStep * x.line_stride;
  }
}

/// The same of any strides, an element at a time.
template <int kLines, int kWidth, int kThreads>
__device__ void copy_elements(std::uint16_t* tile, const Lines& x) {
  constexpr int kAtOnce = 8;  // loads under way
  static_assert(kLines * kWidth % (kThreads * kAtOnce) == 0);
  const std::int64_t step = x.step < 0 ? -x.step : x.step;
  const std::int64_t stride = x.line_stride < 0 ? -x.line_stride : x.line_stride;
  const bool along_lines = step <= stride;  // whichever lies closer together
#pragma unroll 1
  for (int first = threadIdx.x; first < kLines * kWidth; first += kThreads * kAtOnce) {
    std::uint16_t value[kAtOnce];
    int to[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int e = first + i * kThreads;
      const int line = along_lines ? e / kWidth : e % kLines;
      const int at = along_lines ? e % kWidth : e / kLines;
      const bool inside = line < x.lines && at < x.width;
      value[i] = inside ? x.first[line * x.line_stride + at * x.step] : std::uint16_t{0};
      to[i] = swizzled<kWidth>(line, at);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) tile[to[i]] = value[i];
  }
}

}  // namespace bic::cuda

#pragma once

#include <cstddef>
#include <functional>

struct CUstream_st;

namespace bic::cuda {

/// Where a kernel is launched; what `cpu::ParallelFor` is to the kernels of the CPU. Kernels return
/// once they are queued on `stream`, also while it is being captured into a graph; the first
/// products of a kind wait for what they try before. They throw
/// std::runtime_error when a launch fails; errors of the device itself appear where it is waited
/// for.
struct Launch {
  CUstream_st* stream = nullptr;  ///< a cudaStream_t
  /// Device memory, aligned to 256 bytes, for what is queued on the stream until the call returns;
  /// its bytes are undefined. Never null; throws when there is none.
  std::function<void*(std::size_t bytes)> scratch;
};

}  // namespace bic::cuda

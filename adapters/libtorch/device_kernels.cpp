#include "adapters/libtorch/device_kernels.h"

#include <stdexcept>

#include "adapters/libtorch/beside.h"

namespace bic::libtorch {

DeviceKernels cuda_kernels() {
  void* const found = function_beside("libbic_cuda.so", "bic_register_cuda_kernels");
  if (found == nullptr) {
    throw std::runtime_error(
        "libtorch-invariant has no kernels for CUDA in this build: build with nvcc (docs/cuda.md)");
  }
  DeviceKernels kernels;
  reinterpret_cast<decltype(&bic_register_cuda_kernels)>(found)(&kernels);
  return kernels;
}

}  // namespace bic::libtorch

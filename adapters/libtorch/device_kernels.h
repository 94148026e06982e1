#pragma once

#include <memory>
#include <vector>

#include "adapters/protocol/messages.h"

namespace bic::libtorch {

/// The bundled kernels of a device, registered with ATen: destroying `registered` restores stock.
struct DeviceKernels {
  std::shared_ptr<void> registered;
  std::vector<protocol::ManifestEntry> manifest;  ///< as `libtorch_invariant::manifest`
};

/// Those for CUDA: opens lib/libbic_cuda.so beside this library, once CUDA is in use. Throws
/// std::runtime_error when this build has none.
DeviceKernels cuda_kernels();

}  // namespace bic::libtorch

/// The one function of libbic_cuda.so: registers its kernels.
extern "C" __attribute__((visibility("default"))) void bic_register_cuda_kernels(
    bic::libtorch::DeviceKernels* kernels);

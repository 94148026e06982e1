#include <memory>

#include "adapters/libtorch/device_kernels.h"
#include "adapters/libtorch_invariant/registration.h"

// What libbic_cuda.so exports.

void bic_register_cuda_kernels(bic::libtorch::DeviceKernels* kernels) {
  namespace own = bic::libtorch_invariant;
  auto registration = std::make_shared<own::Registration>();
  kernels->manifest = own::manifest(registration->changed());
  kernels->registered = std::move(registration);
}

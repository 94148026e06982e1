#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <vector>

#include "reference_kernels/cuda/launch.h"

namespace bic::libtorch_invariant {

/// The device of a tensor and its current stream, for one call of a kernel. Scratch is of torch's
/// caching allocator, which hands it out again in the order of the stream: it may go once the
/// kernels that use it are queued.
class DeviceLaunch {
 public:
  explicit DeviceLaunch(const at::Tensor& y)
      : guard_(y.device()), bytes_of_(y.options().dtype(at::kByte)) {
    launch_.stream = c10::cuda::getCurrentCUDAStream(y.device().index()).stream();
    launch_.scratch = [this](std::size_t bytes) {
      const auto some = static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1));
      scratch_.push_back(at::empty({some}, bytes_of_));
      return scratch_.back().mutable_data_ptr();
    };
  }
  DeviceLaunch(const DeviceLaunch&) = delete;
  DeviceLaunch& operator=(const DeviceLaunch&) = delete;

  operator const cuda::Launch&() const { return launch_; }  // NOLINT: what a kernel takes

 private:
  c10::DeviceGuard guard_;
  at::TensorOptions bytes_of_;
  std::vector<at::Tensor> scratch_;
  cuda::Launch launch_;
};

}  // namespace bic::libtorch_invariant

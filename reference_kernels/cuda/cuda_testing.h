#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference_kernels/cpu/kernel_testing.h"
#include "reference_kernels/cuda/launch.h"

// What the tests of CUDA kernels share, beside the CPU's kernel_testing.h.

namespace bic::cuda::testing {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

inline bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

/// A copy of `values` on the device, `offset` elements behind an address aligned to 256 bytes.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values, std::int64_t offset = 0)
      : size_(values.size()), offset_(offset) {
    check(cudaMalloc(&memory_, (size_ + offset_ + 1) * sizeof(T)));
    check(cudaMemcpy(data(), values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return static_cast<T*>(memory_) + offset_; }
  /// Waits for the device.
  std::vector<T> values() const {
    std::vector<T> host(size_);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(host.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  std::int64_t offset_ = 0;
};

/// Launches on the default stream; its scratch lives as long as it does.
class TestLaunch {
 public:
  TestLaunch() {
    launch_.scratch = [this](std::size_t bytes) {
      scratch_.push_back(nullptr);
      check(cudaMalloc(&scratch_.back(), bytes + 1));
      // NaN in every type: a kernel that reads what it did not write shows.
      check(cudaMemset(scratch_.back(), 0xFF, bytes + 1));
      return scratch_.back();
    };
  }
  ~TestLaunch() {
    cudaDeviceSynchronize();
    for (void* p : scratch_) cudaFree(p);
  }
  TestLaunch(const TestLaunch&) = delete;
  TestLaunch& operator=(const TestLaunch&) = delete;

  const Launch& get() const { return launch_; }

 private:
  Launch launch_;
  std::vector<void*> scratch_;
};

/// Skips where there is no device.
class OnDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

}  // namespace bic::cuda::testing

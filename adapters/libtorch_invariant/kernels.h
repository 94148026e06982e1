#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKey.h>

#include <string_view>

#include "reference_kernels/cpu/gemm.h"

// The binding is compiled once for the CPU and, with BIC_CUDA_BINDING, once for CUDA. This is all
// that differs: whose kernels, whose stock, under which key.

namespace torch {
class Library;
}

#ifdef BIC_CUDA_BINDING

#include "adapters/libtorch_invariant/device_launch.h"

// The headers of the kernels and of ATen's own: #include BIC_KERNELS(sum), BIC_STOCK(mm).
#define BIC_KERNELS(name) <reference_kernels/cuda/name.h>
#define BIC_STOCK(op) <ATen/ops/op##_cuda_dispatch.h>

namespace at::cuda {}
namespace bic::cuda {}

namespace bic::libtorch_invariant {

namespace kernels = ::bic::cuda;
namespace stock = ::at::cuda;

constexpr auto kKey = c10::DispatchKey::CUDA;
constexpr const char* kFolder = "reference_kernels/cuda/";

/// How products and attention of 16-bit types are formed, as the accuracy's bound knows it.
constexpr const char* kNarrowProducts = "tensor-core";
constexpr const char* kNarrowAttention = "round-weights";
inline bool flushes_bf16() { return false; }
/// How far a function may be off in the type of the arithmetic, the worst of float and double.
inline int pointwise_ulps(std::string_view op) {
  return op == "silu" || op == "sigmoid" || op == "pow" ? 4 : 2;
}

/// Operators that only this device's dispatch reaches.
void register_of_device(torch::Library& library);

/// Where the kernels run that write `y`.
inline DeviceLaunch launch_for(const at::Tensor& y) { return DeviceLaunch(y); }

}  // namespace bic::libtorch_invariant

#else

#include <ATen/Parallel.h>

#define BIC_KERNELS(name) <reference_kernels/cpu/name.h>
#define BIC_STOCK(op) <ATen/ops/op##_cpu_dispatch.h>

namespace at::cpu {}

namespace bic::libtorch_invariant {

namespace kernels = ::bic::cpu;
namespace stock = ::at::cpu;

constexpr auto kKey = c10::DispatchKey::CPU;
constexpr const char* kFolder = "reference_kernels/cpu/";

constexpr const char* kNarrowProducts = "";
constexpr const char* kNarrowAttention = "";
inline bool flushes_bf16() { return cpu::gemm_flushes_bf16(); }
inline int pointwise_ulps(std::string_view op) { return op == "tanh" ? 3 : 2; }

inline void register_of_device(torch::Library&) {}

/// ATen's threads, one task at a time: which thread runs what never enters the bits.
inline cpu::ParallelFor launch_for(const at::Tensor&) {
  return [](std::int64_t tasks, const std::function<void(std::int64_t, std::int64_t)>& body) {
    at::parallel_for(0, tasks, 1, body);
  };
}

}  // namespace bic::libtorch_invariant

#endif

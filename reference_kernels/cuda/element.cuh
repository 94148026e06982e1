#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <hwy/base.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "reference_kernels/cuda/launch.h"

// What the .cu files share: elements as a device computes with them, and the check of a launch.

namespace bic::cuda {

/// The device's type for one of the interface's: __nv_bfloat16 for hwy::bfloat16_t, __half for
/// hwy::float16_t, else the same.
template <class T>
struct OnDevice {
  using type = T;
};
template <>
struct OnDevice<hwy::bfloat16_t> {
  using type = __nv_bfloat16;
};
template <>
struct OnDevice<hwy::float16_t> {
  using type = __half;
};
template <class T>
using Element = typename OnDevice<T>::type;

/// What an element is computed in: double for double, else float.
template <class E>
using Accumulator = std::conditional_t<std::is_same_v<E, double>, double, float>;

template <class T>
const Element<T>* device_input(const T* p) {
  return reinterpret_cast<const Element<T>*>(p);
}
template <class T>
Element<T>* device_output(T* p) {
  return reinterpret_cast<Element<T>*>(p);
}

__device__ inline float load(const float& x) { return x; }
__device__ inline double load(const double& x) { return x; }
__device__ inline float load(const __nv_bfloat16& x) { return __bfloat162float(x); }
__device__ inline float load(const __half& x) { return __half2float(x); }

// One rounding, to nearest even; every NaN becomes the canonical quiet NaN of the type.

__device__ inline void store(float& y, float v) { y = isnan(v) ? __int_as_float(0x7fc00000) : v; }
__device__ inline void store(double& y, double v) {
  y = isnan(v) ? __longlong_as_double(0x7ff8000000000000LL) : v;
}
__device__ inline void store(__nv_bfloat16& y, float v) {
  y = isnan(v) ? __ushort_as_bfloat16(0x7fc0) : __float2bfloat16_rn(v);
}
__device__ inline void store(__half& y, float v) {
  y = isnan(v) ? __ushort_as_half(0x7e00) : __float2half_rn(v);
}

__host__ __device__ inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Where a vector of 16 bytes may lie.
__host__ __device__ inline bool is_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

/// Throws when the last launch of this thread failed; `kernel` names it.
inline void check_launch(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string(kernel) + ": " + cudaGetErrorString(error));
  }
}

}  // namespace bic::cuda

#pragma once

#include <type_traits>

#include "reference_kernels/cuda/element.cuh"
#include "reference_kernels/cuda/mma.cuh"

// What attention hands to tensor cores.

namespace bic::cuda {

/// Two neighbours, the first in the low half, each rounded to nearest even.
template <class E>
__device__ unsigned pack(float first, float second) {
  if constexpr (std::is_same_v<E, __half>) {
    const __half2 pair = __floats2half2_rn(first, second);
    return reinterpret_cast<const unsigned&>(pair);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    return reinterpret_cast<const unsigned&>(pair);
  }
}

}  // namespace bic::cuda

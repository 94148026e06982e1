#pragma once

#include <type_traits>

#include "reference_kernels/cuda/element.cuh"

// Matrices of 8 x 8 elements of 16 bits and their products on tensor cores (PTX ISA, mma.m16n8k16).

namespace bic::cuda {

/// Four matrices; lane i says where row i % 8 of matrix i / 8 lies in shared memory.
template <class E>
__device__ void load_matrices(unsigned (&m)[4], const E* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

template <class E>
__device__ void load_transposed_matrices(unsigned (&m)[4], const E* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// sum += a b, a of 16 rows and b of 8 columns, 16 terms each.
template <class E>
__device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  if constexpr (std::is_same_v<E, __half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

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

#pragma once

#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "reference_kernels/cuda/element.cuh"

// Hopper's instructions for a product of matrices: barriers in shared memory, copies of boxes by
// the tensor memory accelerator (TMA), and wgmma, by which four warps, a warpgroup, multiply tiles
// of shared memory. Addresses of shared memory are 32 bits, as PTX has them. Encodings: the PTX
// ISA, and for operands of wgmma CUTLASS, include/cute/atom/mma_traits_sm90_gmma.hpp.

namespace bic::cuda {

__device__ inline void init_barrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals)
               : "memory");
}

/// Makes initialised barriers known to the cluster and to the TMA.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

/// Arrives, and makes the barrier's phase last until so many bytes were copied.
__device__ inline void arrive_expecting(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ inline void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}

/// At the same barrier of the cluster's CTA `rank`.
__device__ inline void arrive_at(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}\n" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

/// Whether the phase of this parity is over; suspends the thread for a while that the hardware
/// sets.
__device__ inline bool is_over(unsigned barrier, unsigned parity) {
  unsigned over;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.b32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(over)
      : "r"(barrier), "r"(parity)
      : "memory");
  return over != 0;
}

/// Waits for the end of the phase of this parity. A mistake of ours ends in a trap after seconds,
/// not in a GPU that hangs.
__device__ inline void wait_for(unsigned barrier, unsigned parity) {
  constexpr int kMostTries = 1 << 22;
  if (is_over(barrier, parity)) return;
  for (int tries = 0; !is_over(barrier, parity); ++tries) {
    if (tries == kMostTries) __trap();
    __nanosleep(20);
  }
}

/// Copies the box at column x, line y of the map's matrix; zeros where there is none. The box's
/// bytes count on `barrier`.
__device__ inline void copy_box(
    unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];\n" ::"r"(to),
      "l"(map),
      "r"(barrier),
      "r"(x),
      "r"(y)
      : "memory");
}

/// The same, to both CTAs of a cluster; in each the box counts on its own barrier.
__device__ inline void copy_box_to_two(
    unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier) {
  constexpr std::uint16_t kBoth = 3;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;\n" ::"r"(to),
      "l"(map),
      "r"(barrier),
      "h"(kBoth),
      "r"(x),
      "r"(y)
      : "memory");
}

template <int kCount>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kCount));
}
template <int kCount>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kCount));
}

/// How wgmma finds an operand whose lines have 128 bytes, swizzled as the TMA does; eight lines are
/// `stride` bytes apart, and of an operand across k what comes after 64 elements `leading` bytes.
__device__ inline std::uint64_t operand(unsigned address, unsigned leading, unsigned stride) {
  constexpr std::uint64_t kSwizzle128 = 1;
  return static_cast<std::uint64_t>((address & 0x3ffff) >> 4) |
         static_cast<std::uint64_t>(leading >> 4) << 16 |
         static_cast<std::uint64_t>(stride >> 4) << 32 | kSwizzle128 << 62;
}

/// What was written to sums before comes before the products, and what is read after comes after.
template <int kSums>
__device__ __forceinline__ void pin(float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}
__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}
__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
/// Waits until of the groups committed no more than kGroups are under way.
template <int kGroups>
__device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kGroups) : "memory");
}

// Operands of an asm: s[i], ..., s[i + 15], and their names.
#define BIC_SUMS_4(s, i) "+f"(s[i]), "+f"(s[i + 1]), "+f"(s[i + 2]), "+f"(s[i + 3])
#define BIC_SUMS_16(s, i) \
  BIC_SUMS_4(s, i), BIC_SUMS_4(s, i + 4), BIC_SUMS_4(s, i + 8), BIC_SUMS_4(s, i + 12)
#define BIC_SUMS_64(s) BIC_SUMS_16(s, 0), BIC_SUMS_16(s, 16), BIC_SUMS_16(s, 32), BIC_SUMS_16(s, 48)
#define BIC_NAMES_64                                                                 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define BIC_NAMES_96                                                                 \
  BIC_NAMES_64                                                                       \
  ", "                                                                               \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define BIC_WGMMA(shape, types, names) \
  "{\n"                                \
  ".reg .pred adds;\n"                 \
  "setp.ne.b32 adds, 1, 0;\n"          \
  "wgmma.mma_async.sync.aligned." shape "k16.f32." types " {" names "}, "

/// sums += a * w of 64 x 16 by 16 x 128; kAcross if w lies along n, not along k.
template <class E, bool kAcross>
__device__ __forceinline__ void multiply(float (&s)[64], std::uint64_t a, std::uint64_t w) {
  if constexpr (std::is_same_v<E, __nv_bfloat16>) {
    asm volatile(
        BIC_WGMMA("m64n128", "bf16.bf16", BIC_NAMES_64) "%64, %65, adds, 1, 1, 0, %66;\n}\n"
        : BIC_SUMS_64(s)
        : "l"(a), "l"(w), "n"(kAcross ? 1 : 0));
  } else {
    asm volatile(BIC_WGMMA("m64n128", "f16.f16", BIC_NAMES_64) "%64, %65, adds, 1, 1, 0, %66;\n}\n"
                 : BIC_SUMS_64(s)
                 : "l"(a), "l"(w), "n"(kAcross ? 1 : 0));
  }
}

/// The same by 16 x 192.
template <class E, bool kAcross>
__device__ __forceinline__ void multiply(float (&s)[96], std::uint64_t a, std::uint64_t w) {
  if constexpr (std::is_same_v<E, __nv_bfloat16>) {
    asm volatile(
        BIC_WGMMA("m64n192", "bf16.bf16", BIC_NAMES_96) "%96, %97, adds, 1, 1, 0, %98;\n}\n"
        : BIC_SUMS_64(s), BIC_SUMS_16(s, 64), BIC_SUMS_16(s, 80)
        : "l"(a), "l"(w), "n"(kAcross ? 1 : 0));
  } else {
    asm volatile(BIC_WGMMA("m64n192", "f16.f16", BIC_NAMES_96) "%96, %97, adds, 1, 1, 0, %98;\n}\n"
                 : BIC_SUMS_64(s), BIC_SUMS_16(s, 64), BIC_SUMS_16(s, 80)
                 : "l"(a), "l"(w), "n"(kAcross ? 1 : 0));
  }
}

#undef BIC_SUMS_4
#undef BIC_SUMS_16
#undef BIC_SUMS_64
#undef BIC_NAMES_64
#undef BIC_NAMES_96
#undef BIC_WGMMA

}  // namespace bic::cuda

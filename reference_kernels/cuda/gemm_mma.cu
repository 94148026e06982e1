// gemm of the 16-bit types, on tensor cores.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "reference_kernels/cuda/gemm_kernel.cuh"
#include "reference_kernels/cuda/gemm_mma.cuh"
#include "reference_kernels/cuda/gemm_paths.h"

namespace bic::cuda {
namespace {

/// kWarpsDown x kWarpsAcross warps, each of which has mma's of 16 x 8 sums; of the kThreads all
/// others only load. In shared memory a lies in rows along k; so does w, by columns, or in rows
/// along n (kAlongN).
template <class E,
          bool kAlongN,
          int kRows_,
          int kColumns_,
          int kTileK_,
          int kWarpsDown,
          int kWarpsAcross,
          int kThreads_,
          int kCtas_,
          template <class, int, int>
          class Totals_>
struct MmaTile {
  using Element = E;
  static constexpr int kRows = kRows_, kColumns = kColumns_, kTileK = kTileK_;
  static constexpr int kStages = 4, kCtas = kCtas_;
  static constexpr int kThreads = kThreads_, kSumThreads = 32 * kWarpsDown * kWarpsAcross;
  static constexpr int kWarpRows = kRows / kWarpsDown, kWarpColumns = kColumns / kWarpsAcross;
  static constexpr int kDown = kWarpRows / 16, kAcross = kWarpColumns / 8;
  static constexpr int kSums = kDown * kAcross * 4;
  static constexpr int kStageBytes = (kRows + kColumns) * kTileK * 2;
  using Totals = Totals_<float, kSums, kThreads>;
  static_assert(kChunk<E> % kTileK == 0 && kWarpRows % 16 == 0 && kWarpColumns % 16 == 0);
  static_assert(kThreads >= kSumThreads);

  __device__ static bool has_sums() { return kThreads == kSumThreads || threadIdx.x < kSumThreads; }
  __device__ static int warp_row() { return threadIdx.x / 32 % kWarpsDown * kWarpRows; }
  __device__ static int warp_column() { return threadIdx.x / 32 / kWarpsDown * kWarpColumns; }
  // Sum i is number i % 4 of an mma's: a lane has two neighbours of a row and those 8 rows below.
  __device__ static int row(int i) {
    return warp_row() + i / 4 / kAcross * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
  }
  __device__ static int column(int i) {
    return warp_column() + i / 4 % kAcross * 8 + threadIdx.x % 4 * 2 + i % 2;
  }

  template <int kLines, int kWidth>
  __device__ static void load_lines(std::uint16_t* tile, const Lines& x, int bytes) {
    if (bytes == 16) {
      copy_lines<kLines, kWidth, kThreads, 16>(tile, x);
    } else if (bytes == 4) {
      copy_lines<kLines, kWidth, kThreads, 4>(tile, x);
    } else {
      copy_elements<kLines, kWidth, kThreads>(tile, x);
    }
  }

  __device__ static void load(void* stage, const Strip<E>& a, const Strip<E>& w, std::int64_t k) {
    auto* a_tile = static_cast<std::uint16_t*>(stage);
    auto* w_tile = a_tile + kRows * kTileK;
    const auto* a_first = reinterpret_cast<const std::uint16_t*>(a.first) + k * a.k_stride;
    const auto* w_first = reinterpret_cast<const std::uint16_t*>(w.first) + k * w.k_stride;
    load_lines<kRows, kTileK>(
        a_tile, {a_first, a.row_stride, a.k_stride, a.rows, a.k - k}, a.bytes);
    if constexpr (kAlongN) {
      load_lines<kTileK, kColumns>(
          w_tile, {w_first, w.k_stride, w.row_stride, w.k - k, w.rows}, w.bytes);
    } else {
      load_lines<kColumns, kTileK>(
          w_tile, {w_first, w.row_stride, w.k_stride, w.rows, w.k - k}, w.bytes);
    }
  }

  /// 16 k by 16 columns of w, as two mma's want them: elements 2 c and 2 c + 1 are of column c * 8.
  __device__ static void read_w(std::uint32_t (&to)[4], const std::uint16_t* tile, int k, int c) {
    const int lane = threadIdx.x % 32;
    if constexpr (kAlongN) {
      load_transposed(to, tile + swizzled<kColumns>(k + lane % 16, c + lane / 16 * 8));
    } else {
      load_matrices(to,
                    tile + swizzled<kTileK>(c + lane % 8 + lane / 16 * 8, k + lane / 8 % 2 * 8));
    }
  }

  struct Fragments {
    std::uint32_t a[kDown][4], w[kAcross / 2][4];
  };

  /// 16 k of both operands.
  __device__ static void read(Fragments& to, const std::uint16_t* stage, int k) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      const int line = warp_row() + i * 16 + lane % 16;
      load_matrices(to.a[i], stage + swizzled<kTileK>(line, k + lane / 16 * 8));
    }
#pragma unroll
    for (int j = 0; j < kAcross / 2; ++j) {
      read_w(to.w[j], stage + kRows * kTileK, k, warp_column() + j * 16);
    }
  }

  /// A chain of mma's a sum, k ascending; what the next ones need is read meanwhile.
  __device__ static void multiply(const void* stage, float (&sums)[kSums]) {
    if (!has_sums()) return;
    const auto* tiles = static_cast<const std::uint16_t*>(stage);
    Fragments fragments[2];
    read(fragments[0], tiles, 0);
#pragma unroll
    for (int step = 0; step < kTileK / 16; ++step) {
      if (step + 1 < kTileK / 16) read(fragments[(step + 1) % 2], tiles, (step + 1) * 16);
      const Fragments& now = fragments[step % 2];
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
          mma<E>(sums + (i * kAcross + j) * 4, now.a[i], now.w[j / 2] + j % 2 * 2);
        }
      }
    }
  }
};

template <class E, bool kAlongN>
using Large = MmaTile<E, kAlongN, 128, 128, 64, 2, 4, 256, 1, RegisterTotals>;
template <class E, bool kAlongN>
using Medium = MmaTile<E, kAlongN, 64, 64, 64, 2, 2, 128, 2, SharedTotals>;
template <class E, bool kAlongN>
using Slim = MmaTile<E, kAlongN, 64, 32, 128, 4, 2, 256, 2, SharedTotals>;
template <class E, bool kAlongN>
using Flat = MmaTile<E, kAlongN, 16, 64, 128, 1, 4, 128, 2, SharedTotals>;
template <class E, bool kAlongN>
using Thin = MmaTile<E, kAlongN, 16, 16, 256, 1, 1, 128, 3, SharedTotals>;

/// How many bytes of an operand may be copied at a time: 16, 4, or 2 for one element. `stride` is
/// that of its lines, of which there are `lines`.
template <class T>
int copy_bytes(const T* p,
               std::int64_t step,
               std::int64_t stride,
               std::int64_t lines,
               std::int64_t batch_stride,
               std::int64_t batch) {
  if (step != 1) return 2;
  std::uint64_t offsets = reinterpret_cast<std::uintptr_t>(p);
  if (lines > 1) offsets |= 2 * static_cast<std::uint64_t>(stride);
  if (batch > 1) offsets |= 2 * static_cast<std::uint64_t>(batch_stride);
  return offsets % 16 == 0 ? 16 : offsets % 4 == 0 ? 4 : 2;
}

/// The tile of few rows or of more that has a CTA for every multiprocessor; the narrower ones read
/// a more often.
template <class E, bool kAlongN>
MmaShape shape_for(const cpu::GemmArgs<E>& g) {
  const std::int64_t parts =
      g.batch * std::clamp<std::int64_t>(ceil_div(g.k, kNarrowChunk), 1, kMaxRanks);
  const auto fills = [&](std::int64_t tiles) { return tiles * parts >= kProcessors; };
  if (g.m <= 16) {
    return fills(tiles_of<Flat<E, kAlongN>>(g)) ? MmaShape::kFlat : MmaShape::kThin;
  }
  if (tiles_of<Large<E, kAlongN>>(g) * g.batch >= kProcessors) return MmaShape::kLarge;
  return fills(tiles_of<Medium<E, kAlongN>>(g)) ? MmaShape::kMedium : MmaShape::kSlim;
}

template <class E, bool kAlongN>
void launch_tiles(const GemmProblem<E>& p, MmaShape shape, const Launch& launch) {
  if (shape == MmaShape::kByExtents) shape = shape_for<E, kAlongN>(p.args);
  switch (shape) {
    case MmaShape::kFlat:
      return launch_gemm<Flat<E, kAlongN>>(p, 2 * kProcessors, launch);
    case MmaShape::kThin:
      return launch_gemm<Thin<E, kAlongN>>(p, 3 * kProcessors, launch);
    case MmaShape::kSlim:
      return launch_gemm<Slim<E, kAlongN>>(p, 2 * kProcessors, launch);
    case MmaShape::kMedium:
      return launch_gemm<Medium<E, kAlongN>>(p, 2 * kProcessors, launch);
    default:
      return launch_gemm<Large<E, kAlongN>>(p, 1, launch);
  }
}

template <class T>
void multiply(const cpu::GemmArgs<T>& args, float* sums, MmaShape shape, const Launch& launch) {
  // The same fields, of pointers to the device's name for the type.
  GemmProblem<Element<T>> p{std::bit_cast<cpu::GemmArgs<Element<T>>>(args)};
  const auto& g = p.args;
  p.sums = sums;
  p.a_bytes = copy_bytes(g.a, g.a_k, g.a_row, g.m, g.a_batch, g.batch);
  if (g.n > 1 && std::abs(g.w_n) < std::abs(g.w_k)) {
    p.w_bytes = copy_bytes(g.w, g.w_n, g.w_k, g.k, g.w_batch, g.batch);
    launch_tiles<Element<T>, true>(p, shape, launch);
  } else {
    p.w_bytes = copy_bytes(g.w, g.w_k, g.w_n, g.n, g.w_batch, g.batch);
    launch_tiles<Element<T>, false>(p, shape, launch);
  }
}

}  // namespace

template <class T>
void gemm_mma(const cpu::GemmArgs<T>& args, const Launch& launch, MmaShape shape) {
  multiply(args, nullptr, shape, launch);
}

template <class T>
void gemm_mma_sums(const cpu::GemmArgs<T>& args, float* sums, const Launch& launch) {
  multiply(args, sums, MmaShape::kByExtents, launch);
}

template void gemm_mma(const cpu::GemmArgs<hwy::bfloat16_t>&, const Launch&, MmaShape);
template void gemm_mma(const cpu::GemmArgs<hwy::float16_t>&, const Launch&, MmaShape);
template void gemm_mma_sums(const cpu::GemmArgs<hwy::bfloat16_t>&, float*, const Launch&);
template void gemm_mma_sums(const cpu::GemmArgs<hwy::float16_t>&, float*, const Launch&);

}  // namespace bic::cuda

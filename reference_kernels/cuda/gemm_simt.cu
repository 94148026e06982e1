// gemm of float and double, on CUDA cores.
#include <cstdint>

#include "reference_kernels/cuda/gemm_kernel.cuh"
#include "reference_kernels/cuda/gemm_paths.h"

namespace bic::cuda {
namespace {

/// kThreadRows x kThreadColumns sums a thread; a warp is 4 x 8 threads. In shared memory k is the
/// slow axis of both operands, so that a thread reads 16 bytes of rows at a time: groups of kVector
/// rows, one a thread, that no two threads of a warp take from the same banks.
template <class E,
          int kRows_,
          int kColumns_,
          int kTileK_,
          int kThreadRows,
          int kThreadColumns,
          int kStages_,
          int kCtas_>
struct SimtTile {
  using Element = E;
  static constexpr int kRows = kRows_, kColumns = kColumns_, kTileK = kTileK_;
  static constexpr int kStages = kStages_, kCtas = kCtas_;
  static constexpr int kWarpRows = 4 * kThreadRows, kWarpColumns = 8 * kThreadColumns;
  static constexpr int kWarpsDown = kRows / kWarpRows;
  static constexpr int kThreads = 32 * kWarpsDown * (kColumns / kWarpColumns);
  static constexpr int kSums = kThreadRows * kThreadColumns;
  static constexpr int kVector = 16 / sizeof(E);
  static constexpr int kAStride = kRows + kVector, kWStride = kColumns + kVector;
  static constexpr int kStageBytes = kTileK * (kAStride + kWStride) * sizeof(E);
  using Totals = SharedTotals<E, kSums, kThreads>;
  static_assert(kChunk<E> % kTileK == 0 && kStageBytes % 16 == 0);

  __device__ static bool has_sums() { return true; }
  __device__ static int row(int i) {
    const int r = i / kThreadColumns, warp = threadIdx.x / 32 % kWarpsDown;
    return warp * kWarpRows + r / kVector * (4 * kVector) + threadIdx.x % 32 / 8 * kVector +
           r % kVector;
  }
  __device__ static int column(int i) {
    const int c = i % kThreadColumns, warp = threadIdx.x / 32 / kWarpsDown;
    return warp * kWarpColumns + c / kVector * (8 * kVector) + threadIdx.x % 8 * kVector +
           c % kVector;
  }

  /// Element (row, k) to tile[k * kStride + row], zeros beyond the operand's end.
  template <int kLines, int kStride>
  __device__ static void load_strip(E* tile, const Strip<E>& x, std::int64_t first_k) {
    // Neighbouring threads read along k, 32 bytes at a time, or along the rows.
    const bool along_k = x.k_stride == 1;
    constexpr int kRun = 8, kRowStep = kThreads / kRun, kKStep = kThreads / kLines;
    static_assert(kLines % kRowStep == 0 && kTileK % kRun == 0 && kTileK % kKStep == 0);
    const int thread = threadIdx.x;
    const int row = along_k ? thread / kRun : thread % kLines;
    const int k = along_k ? thread % kRun : thread / kLines;
    const E* from = x.first + row * x.row_stride + (first_k + k) * x.k_stride;
    E* to = tile + k * kStride + row;
    const auto copy = [&](int dk, int drow) {
      const bool inside = row + drow < x.rows && first_k + k + dk < x.k;
      copy_async<sizeof(E)>(to + dk * kStride + drow,
                            from + drow * x.row_stride + dk * x.k_stride,
                            inside ? sizeof(E) : 0);
    };
    if (along_k) {
#pragma unroll
      for (int i = 0; i < kTileK / kRun * (kLines / kRowStep); ++i) {
        copy(i / (kLines / kRowStep) * kRun, i % (kLines / kRowStep) * kRowStep);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kTileK / kKStep; ++i) copy(i * kKStep, 0);
    }
  }

  __device__ static void load(void* stage, const Strip<E>& a, const Strip<E>& w, std::int64_t k) {
    E* tile = static_cast<E*>(stage);
    load_strip<kRows, kAStride>(tile, a, k);
    load_strip<kColumns, kWStride>(tile + kTileK * kAStride, w, k);
  }

  /// kCount values, kVector of them every kStep.
  template <int kCount, int kStep>
  __device__ static void read(const E* from, E (&to)[kCount]) {
    struct alignas(16) Vector {
      E v[kVector];
    };
#pragma unroll
    for (int g = 0; g < kCount / kVector; ++g) {
      const Vector vector = *reinterpret_cast<const Vector*>(from + g * kStep);
#pragma unroll
      for (int i = 0; i < kVector; ++i) to[g * kVector + i] = vector.v[i];
    }
  }

  /// One chain of fused multiply-adds a sum, k ascending.
  __device__ static void multiply(const void* stage, E (&sums)[kSums]) {
    const E* a_tile = static_cast<const E*>(stage) + row(0);
    const E* w_tile = static_cast<const E*>(stage) + kTileK * kAStride + column(0);
#pragma unroll
    for (int k = 0; k < kTileK; ++k) {
      E a[kThreadRows], w[kThreadColumns];
      read<kThreadRows, 4 * kVector>(a_tile + k * kAStride, a);
      read<kThreadColumns, 8 * kVector>(w_tile + k * kWStride, w);
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        sums[i] = fma(a[i / kThreadColumns], w[i % kThreadColumns], sums[i]);
      }
    }
  }
};

template <class E>
struct SimtTiles;
template <>
struct SimtTiles<float> {
  using Large = SimtTile<float, 128, 128, 8, 8, 8, 4, 2>;
  using Medium = SimtTile<float, 64, 64, 16, 4, 4, 4, 2>;
  using Flat = SimtTile<float, 16, 64, 32, 4, 4, 4, 4>;
};
template <>
struct SimtTiles<double> {
  using Large = SimtTile<double, 128, 64, 8, 8, 4, 3, 2>;
  using Medium = SimtTile<double, 64, 64, 8, 4, 4, 4, 2>;
  using Flat = SimtTile<double, 16, 64, 16, 4, 4, 4, 4>;
};

}  // namespace

template <class T>
void gemm_simt(const cpu::GemmArgs<T>& g, const Launch& launch) {
  using Tiles = SimtTiles<T>;
  const GemmProblem<T> p{g};
  if (g.m <= Tiles::Flat::kRows) {
    launch_gemm<typename Tiles::Flat>(p, 4 * kProcessors, launch);
  } else if (tiles_of<typename Tiles::Large>(g) * g.batch < kProcessors) {
    launch_gemm<typename Tiles::Medium>(p, 2 * kProcessors, launch);
  } else {
    launch_gemm<typename Tiles::Large>(p, 1, launch);
  }
}

template void gemm_simt(const cpu::GemmArgs<float>&, const Launch&);
template void gemm_simt(const cpu::GemmArgs<double>&, const Launch&);

}  // namespace bic::cuda

// gemm of the 16-bit types for many rows, by wgmma: what a product is launched as.
#include <cudaTypedefs.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference_kernels/cuda/gemm_wgmma.h"
#include "reference_kernels/cuda/gemm_wgmma_kernel.cuh"

namespace bic::cuda {
namespace {

constexpr std::int64_t kMostExtent = 1 << 30;  // coordinates of a box are 32 bits, signed
constexpr std::int64_t kMostChunks = 8;        // CTAs of a cluster that every Hopper can run

/// The driver's function, or null. The runtime finds it, so that nothing links to the driver.
PFN_cuTensorMapEncodeTiled_v12000 encode_tiled() {
  constexpr unsigned kCuda12 = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion(
          "cuTensorMapEncodeTiled", &found, kCuda12, cudaEnableDefault, &result) != cudaSuccess ||
      result != cudaDriverEntryPointSuccess) {
    cudaGetLastError();  // answered here
    return nullptr;
  }
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
}

/// A matrix in lines `stride` elements apart, copied in boxes of 64 by `box_lines`.
template <class E>
bool encode(CUtensorMap& map,
            const E* first,
            std::int64_t width,
            std::int64_t lines,
            std::int64_t stride,
            int box_lines) {
  static const auto tiled = encode_tiled();
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(width), static_cast<cuuint64_t>(lines)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(stride) * sizeof(E)};
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(box_lines)};
  const cuuint32_t steps[] = {1, 1};
  const auto type = std::is_same_v<E, __half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                              : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  return tiled != nullptr && tiled(&map,
                                   type,
                                   2,
                                   const_cast<E*>(first),
                                   extents,
                                   strides,
                                   box,
                                   steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <class E>
bool lines_fit(const E* first, std::int64_t width, std::int64_t lines, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(first) % 16 == 0 && stride % 8 == 0 && stride >= width &&
         std::max({width, lines, stride}) <= kMostExtent;
}

template <class E>
bool operands_fit(const cpu::GemmArgs<E>& g) {
  if (g.batch != 1 || g.m <= 64 || g.n < 64 || g.k <= 0 || g.a_k != 1) return false;
  if (ceil_div(g.m, 128) * ceil_div(g.n, 128) > kMostExtent / 16) return false;
  return lines_fit(g.a, g.k, g.m, g.a_row) && (g.w_k == 1   ? lines_fit(g.w, g.k, g.n, g.w_n)
                                               : g.w_n == 1 ? lines_fit(g.w, g.n, g.k, g.w_k)
                                                            : false);
}

/// The device's multiprocessors, or 0 if it is no Hopper.
int hopper_processors() {
  int device = 0, major = 0, processors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
    return 0;
  }
  return major == 9 ? processors : 0;
}

template <class Tile>
std::int64_t tiles_of(const cpu::GemmArgs<typename Tile::Element>& g) {
  return ceil_div(g.m, Tile::kRows * Tile::kCtas) * ceil_div(g.n, Tile::kColumns);
}
template <class E>
std::int64_t chunks_of(const cpu::GemmArgs<E>& g) {
  return ceil_div(g.k, kNarrowChunk);
}

/// CTAs of a cluster.
template <class Tile>
std::int64_t cluster_of(const cpu::GemmArgs<typename Tile::Element>& g) {
  return Tile::kSpread ? chunks_of(g) : Tile::kCtas;
}

/// About how long it takes, in fourths of a column's k step: no bit depends on it.
template <class Tile>
std::int64_t cost(const cpu::GemmArgs<typename Tile::Element>& g, int processors) {
  constexpr std::int64_t kEnd = Tile::kSpread ? 2048 : 640;  // columns' steps that writing y takes
  if (Tile::kSpread && (chunks_of(g) < 2 || chunks_of(g) > kMostChunks)) {
    return std::numeric_limits<std::int64_t>::max();
  }
  // Large clusters leave a multiprocessor here and there without one.
  const std::int64_t usable = Tile::kSpread ? processors * 9 / 10 : processors;
  const std::int64_t at_once = std::max<std::int64_t>(1, usable / cluster_of<Tile>(g));
  const std::int64_t k = Tile::kSpread ? std::min<std::int64_t>(g.k, kNarrowChunk) : g.k;
  const std::int64_t step = Tile::kPair ? 20 : 21;  // alone it reads more of w
  return ceil_div(tiles_of<Tile>(g), at_once) *
         (ceil_div(k, Tile::kTileK) * Tile::kColumns * step / 20 + kEnd);
}

template <class Tile>
bool launch_wgmma(const cpu::GemmArgs<typename Tile::Element>& g,
                  int processors,
                  const Launch& launch) {
  WgmmaProblem<typename Tile::Element> p{.args = g};
  if (!encode(p.a, g.a, g.k, g.m, g.a_row, Tile::kRows) ||
      !(Tile::kAlongN ? encode(p.w, g.w, g.n, g.k, g.w_k, Tile::kBoxLines)
                      : encode(p.w, g.w, g.k, g.n, g.w_n, Tile::kBoxLines))) {
    return false;
  }
  p.down = static_cast<int>(ceil_div(g.m, Tile::kRows * Tile::kCtas));
  p.across = static_cast<int>(ceil_div(g.n, Tile::kColumns));
  p.steps = static_cast<int>(ceil_div(g.k, Tile::kTileK));
  const auto kernel = [] {
    if constexpr (Tile::kSpread) {
      return gemm_wgmma_spread_kernel<Tile>;
    } else {
      return gemm_wgmma_kernel<Tile>;
    }
  }();
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kBytes);
  const auto ctas = static_cast<unsigned>(cluster_of<Tile>(g));
  const auto tiles = static_cast<unsigned>(tiles_of<Tile>(g));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {ctas, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(Tile::kSpread ? tiles * ctas : std::min(tiles, processors / ctas) * ctas);
  config.blockDim = dim3(Tile::kThreads);
  config.dynamicSmemBytes = Tile::kBytes;
  config.stream = launch.stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, p);
  check_launch("gemm_wgmma");
  return true;
}

template <class E, bool kAlongN>
bool launch_shape(const cpu::GemmArgs<E>& g,
                  WgmmaShape shape,
                  int processors,
                  const Launch& launch) {
  using Wide = WgmmaTile<E, kAlongN, 192, false, false>;
  using WidePair = WgmmaTile<E, kAlongN, 192, true, false>;
  using Narrow = WgmmaTile<E, kAlongN, 128, false, false>;
  using NarrowPair = WgmmaTile<E, kAlongN, 128, true, false>;
  using Spread = WgmmaTile<E, kAlongN, 128, false, true>;
  if (shape == WgmmaShape::kByExtents) {
    const std::int64_t costs[] = {cost<Wide>(g, processors),
                                  cost<WidePair>(g, processors),
                                  cost<Narrow>(g, processors),
                                  cost<NarrowPair>(g, processors),
                                  cost<Spread>(g, processors)};
    shape = static_cast<WgmmaShape>(1 + (std::min_element(costs, costs + 5) - costs));
  }
  switch (shape) {
    case WgmmaShape::kWide:
      return launch_wgmma<Wide>(g, processors, launch);
    case WgmmaShape::kWidePair:
      return launch_wgmma<WidePair>(g, processors, launch);
    case WgmmaShape::kNarrow:
      return launch_wgmma<Narrow>(g, processors, launch);
    case WgmmaShape::kNarrowPair:
      return launch_wgmma<NarrowPair>(g, processors, launch);
    default:
      return chunks_of(g) <= kMostChunks && launch_wgmma<Spread>(g, processors, launch);
  }
}

}  // namespace

template <class T>
bool gemm_wgmma(const cpu::GemmArgs<T>& args, const Launch& launch, WgmmaShape shape) {
  // The same fields, of pointers to the device's name for the type.
  const auto g = std::bit_cast<cpu::GemmArgs<Element<T>>>(args);
  const int processors = operands_fit(g) ? hopper_processors() : 0;
  if (processors == 0) return false;
  return g.w_k == 1 ? launch_shape<Element<T>, false>(g, shape, processors, launch)
                    : launch_shape<Element<T>, true>(g, shape, processors, launch);
}

template bool gemm_wgmma(const cpu::GemmArgs<hwy::bfloat16_t>&, const Launch&, WgmmaShape);
template bool gemm_wgmma(const cpu::GemmArgs<hwy::float16_t>&, const Launch&, WgmmaShape);

}  // namespace bic::cuda

#include <algorithm>
#include <cstdint>

#include "reference_kernels/cuda/convolution.h"
#include "reference_kernels/cuda/element.cuh"
#include "reference_kernels/cuda/gemm.h"

namespace bic::cuda {
namespace {

constexpr std::int64_t kMostScratch = std::int64_t{256} << 20;
constexpr int kThreads = 256, kWarps = kThreads / 32;

/// Outputs position ... position + positions - 1 of each channel, of images image ... image +
/// images - 1.
struct Piece {
  std::int64_t image, images, position, positions;
};

template <class T>
__host__ __device__ std::int64_t terms_of(const cpu::ConvolutionArgs<T>& g) {
  return g.channels * g.h.taps * g.w.taps;
}

/// One term: channel and tap.
struct Term {
  std::int64_t c, u, v;
};

template <class T>
__device__ Term term_at(const cpu::ConvolutionArgs<T>& g, std::int64_t k) {
  return {k / (g.h.taps * g.w.taps), k / g.w.taps % g.h.taps, k % g.w.taps};
}

/// The term `by` further on, by carrying: divisions would cost more than the copy.
template <class T>
__device__ Term further(const cpu::ConvolutionArgs<T>& g, Term t, const Term& by) {
  t.c += by.c, t.u += by.u, t.v += by.v;
  if (t.v >= g.w.taps) t.v -= g.w.taps, ++t.u;
  if (t.u >= g.h.taps) t.u -= g.h.taps, ++t.c;
  return t;
}

/// columns[image, group, position, (c, u, v)] is what an output sees; a warp copies for one output.
template <class T>
__global__ void __launch_bounds__(kThreads)
    copy_columns(const cpu::ConvolutionArgs<T> g, const Piece piece, Element<T>* columns) {
  using E = Element<T>;
  const std::int64_t terms = terms_of(g), all = piece.images * g.groups * piece.positions;
  const Term first_term = term_at(g, threadIdx.x % 32), step = term_at(g, 32);
  const std::int64_t first = blockIdx.x * std::int64_t{kWarps} + threadIdx.x / 32;
  for (std::int64_t n = first; n < all; n += gridDim.x * std::int64_t{kWarps}) {
    const std::int64_t position = piece.position + n % piece.positions;
    const std::int64_t group = n / piece.positions % g.groups;
    const std::int64_t image = piece.image + n / piece.positions / g.groups;
    const std::int64_t top = position / g.w.out * g.h.stride - g.h.padding;
    const std::int64_t left = position % g.w.out * g.w.stride - g.w.padding;
    const E* x =
        reinterpret_cast<const E*>(g.x) + image * g.x_batch + group * g.channels * g.x_channel;
    Term t = first_term;
    for (std::int64_t k = threadIdx.x % 32; k < terms; k += 32, t = further(g, t, step)) {
      const std::int64_t i = top + t.u * g.h.dilation, j = left + t.v * g.w.dilation;
      const bool inside = i >= 0 && i < g.h.in && j >= 0 && j < g.w.in;
      columns[n * terms + k] = inside ? x[t.c * g.x_channel + i * g.x_h + j * g.x_w] : E(0.0F);
    }
  }
}

/// Group `group` of all the piece's images, filters times columns.
template <class T>
cpu::GemmArgs<T> product(const cpu::ConvolutionArgs<T>& g,
                         const Piece& piece,
                         std::int64_t group,
                         const T* columns) {
  const std::int64_t terms = terms_of(g), area = g.h.out * g.w.out;
  cpu::GemmArgs<T> p;
  p.a = g.filters + group * g.n * terms, p.a_row = terms;
  p.w = columns + group * piece.positions * terms, p.w_n = terms;
  p.w_batch = g.groups * piece.positions * terms;
  p.y = g.y + (piece.image * g.groups + group) * g.n * area + piece.position, p.y_row = area;
  p.y_batch = g.groups * g.n * area;
  if (g.bias != nullptr) p.bias = g.bias + group * g.n, p.bias_row = 1, p.bias_n = 0;
  p.m = g.n, p.n = piece.positions, p.k = terms, p.batch = piece.images;
  return p;
}

/// Image `image` of the piece, all groups.
template <class T>
cpu::GemmArgs<T> product_of_image(const cpu::ConvolutionArgs<T>& g,
                                  const Piece& piece,
                                  std::int64_t image,
                                  const T* columns) {
  cpu::GemmArgs<T> p = product(g, piece, 0, columns);
  p.w += image * p.w_batch, p.y += image * p.y_batch;
  p.batch = g.groups;
  p.a_batch = p.m * p.k, p.w_batch = p.n * p.k, p.y_batch = p.m * p.y_row, p.bias_batch = p.m;
  return p;
}

template <class T>
void convolve(const cpu::ConvolutionArgs<T>& g,
              const Piece& piece,
              T* columns,
              const Launch& launch) {
  const std::int64_t outputs = piece.images * g.groups * piece.positions;
  const auto blocks = std::min<std::int64_t>((outputs + kWarps - 1) / kWarps, 1 << 30);
  copy_columns<T><<<static_cast<unsigned>(blocks), kThreads, 0, launch.stream>>>(
      g, piece, reinterpret_cast<Element<T>*>(columns));
  check_launch("convolution");
  // The fewer products of the two: neither changes a bit.
  if (g.groups <= piece.images) {
    for (std::int64_t i = 0; i < g.groups; ++i) gemm(product(g, piece, i, columns), launch);
  } else {
    for (std::int64_t i = 0; i < piece.images; ++i) {
      gemm(product_of_image(g, piece, i, columns), launch);
    }
  }
}

}  // namespace

template <class T>
void convolution(const cpu::ConvolutionArgs<T>& g, const Launch& launch) {
  const std::int64_t area = g.h.out * g.w.out;
  if (g.batch == 0 || g.groups == 0 || g.n == 0 || area == 0) return;
  const auto bytes = static_cast<std::int64_t>(sizeof(T)) * std::max<std::int64_t>(terms_of(g), 1);
  const auto fit = [](std::int64_t each, std::int64_t most) {
    return std::clamp<std::int64_t>(kMostScratch / each, 1, most);
  };
  const std::int64_t positions = fit(bytes * g.groups, area);
  const std::int64_t images = fit(bytes * g.groups * area, g.batch);
  T* columns = static_cast<T*>(launch.scratch(bytes * g.groups * images * positions));
  for (std::int64_t image = 0; image < g.batch; image += images) {
    for (std::int64_t position = 0; position < area; position += positions) {
      const Piece piece{
          image, std::min(images, g.batch - image), position, std::min(positions, area - position)};
      convolve(g, piece, columns, launch);
    }
  }
}

template void convolution(const cpu::ConvolutionArgs<float>&, const Launch&);
template void convolution(const cpu::ConvolutionArgs<double>&, const Launch&);
template void convolution(const cpu::ConvolutionArgs<hwy::bfloat16_t>&, const Launch&);
template void convolution(const cpu::ConvolutionArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

#include <algorithm>
#include <bit>

#include "reference_kernels/cuda/element.cuh"
#include "reference_kernels/cuda/gemm_finish.cuh"
#include "reference_kernels/cuda/gemm_lt_kernels.h"

namespace bic::cuda {
namespace {

constexpr int kAcross = 32, kDown = 8;  // threads of a block along and across a row

/// Blocks for a stack of `rows` by `cols`: x along the rows, y along the columns, both striding.
dim3 blocks(std::int64_t rows, std::int64_t cols) {
  const auto up_to = [](std::int64_t n, std::int64_t each, std::int64_t most) {
    return static_cast<unsigned>(std::min((n + each - 1) / each, most));
  };
  return {up_to(rows, kDown, 1 << 20), up_to(cols, 8 * kAcross, 1 << 12)};
}

/// f(row, column) for each of them, over the whole grid.
template <class F>
__device__ void for_each(std::int64_t rows, std::int64_t cols, F f) {
  const std::int64_t first = blockIdx.x * std::int64_t{kDown} + threadIdx.y;
  for (std::int64_t r = first; r < rows; r += gridDim.x * std::int64_t{kDown}) {
    const std::int64_t left = blockIdx.y * std::int64_t{kAcross} + threadIdx.x;
    for (std::int64_t c = left; c < cols; c += gridDim.y * std::int64_t{kAcross}) f(r, c);
  }
}

__global__ void pack_kernel(
    Strided x, std::uint16_t* y, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  for_each(batch * rows, cols, [&](std::int64_t r, std::int64_t j) {
    const std::int64_t b = r / rows, i = r % rows;
    const bool inside = i < x.rows && j < x.cols;
    y[r * cols + j] = inside ? x.data[b * x.batch + i * x.row + j * x.col] : 0;
  });
}

template <class E>
__global__ void finish_kernel(const float* sums, std::int64_t row, cpu::GemmArgs<E> g) {
  for_each(g.batch * g.m, g.n, [&](std::int64_t r, std::int64_t j) {
    finish(g, r / g.m, r % g.m, j, cuda::add(sums[r * row + j], 0.0f));
  });
}

}  // namespace

void pack(const Strided& x,
          std::uint16_t* y,
          std::int64_t batch,
          std::int64_t rows,
          std::int64_t cols,
          CUstream_st* stream) {
  if (batch * rows * cols == 0) return;
  pack_kernel<<<blocks(batch * rows, cols), dim3(kAcross, kDown), 0, stream>>>(
      x, y, batch, rows, cols);
  check_launch("gemm_lt: pack");
}

template <class T>
void finish(const float* sums, std::int64_t row, const cpu::GemmArgs<T>& g, CUstream_st* stream) {
  if (g.batch * g.m * g.n == 0) return;
  finish_kernel<<<blocks(g.batch * g.m, g.n), dim3(kAcross, kDown), 0, stream>>>(
      sums, row, std::bit_cast<cpu::GemmArgs<Element<T>>>(g));
  check_launch("gemm_lt: finish");
}

template void finish(const float*,
                     std::int64_t,
                     const cpu::GemmArgs<hwy::bfloat16_t>&,
                     CUstream_st*);
template void finish(const float*,
                     std::int64_t,
                     const cpu::GemmArgs<hwy::float16_t>&,
                     CUstream_st*);

}  // namespace bic::cuda

#pragma once

#include <cstdint>

#include "reference_kernels/cpu/gemm.h"

struct CUstream_st;

namespace bic::cuda {

/// A stack of matrices of 16-bit elements; strides count elements and may be any.
struct Strided {
  const std::uint16_t* data = nullptr;
  std::int64_t batch = 0, row = 0, col = 1;
  std::int64_t rows = 0, cols = 0;
};

/// y[b,i,j], dense [batch, rows, cols], is x[b,i,j], and 0 beyond its rows and columns.
void pack(const Strided& x,
          std::uint16_t* y,
          std::int64_t batch,
          std::int64_t rows,
          std::int64_t cols,
          CUstream_st* stream);

/// g.y from its sums, [batch, m, row] of which the first n of a row count and may be -0, as
/// gemm_mma makes it from its own.
template <class T>
void finish(const float* sums, std::int64_t row, const cpu::GemmArgs<T>& g, CUstream_st* stream);

}  // namespace bic::cuda

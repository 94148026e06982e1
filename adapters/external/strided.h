#pragma once

#include <cstdint>
#include <vector>

#include "adapters/plugin/bi_conform_plugin.h"

namespace bic::external {

/// First element of a tensor.
template <class T>
T* first(const bic_tensor& t) {
  return reinterpret_cast<T*>(static_cast<char*>(t.data) + t.byte_offset);
}

/// A matrix somewhere in memory.
template <class T>
struct Matrix {
  T* first = nullptr;
  std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

  T& at(std::int64_t i, std::int64_t j) const { return first[i * row_stride + j * column_stride]; }
  Matrix transposed() const { return {first, columns, rows, column_stride, row_stride}; }
  /// Row-major with room between rows, as BLAS and oneDNN take it.
  bool is_row_major() const {
    return (columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns);
  }
  std::int64_t leading() const { return rows == 1 ? columns : row_stride; }
};

/// The last two axes of a tensor; of one with a batch in front, matrix `b` of it. A vector is one
/// column.
template <class T>
Matrix<T> matrix(const bic_tensor& t, std::int64_t b = 0) {
  T* const at = first<T>(t) + (t.ndim == 3 ? b * t.strides[0] : 0);
  if (t.ndim == 1) return {at, t.shape[0], 1, t.strides[0], 1};
  const int row = t.ndim - 2, column = t.ndim - 1;
  return {at, t.shape[row], t.shape[column], t.strides[row], t.strides[column]};
}

template <class T>
void copy(const Matrix<T>& from, const Matrix<T>& to) {
  for (std::int64_t i = 0; i < to.rows; ++i) {
    for (std::int64_t j = 0; j < to.columns; ++j) to.at(i, j) = from.at(i, j);
  }
}

/// Dense room of the size of `m`, in `memory`.
template <class T>
Matrix<T> dense(const Matrix<T>& m, std::vector<T>& memory) {
  memory.resize(static_cast<std::size_t>(m.rows * m.columns));
  return {memory.data(), m.rows, m.columns, m.columns, 1};
}

}  // namespace bic::external

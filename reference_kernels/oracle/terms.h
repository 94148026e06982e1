#pragma once

#include <cstdint>

#include "reference_kernels/oracle/reference.h"

namespace bic {

/// What one output of a row reduction reads: x[0], …, x[extent - 1].
struct Terms {
  const double* first;
  std::int64_t extent;
  std::int64_t stride;

  double operator[](std::int64_t i) const { return first[i * stride]; }
};

/// A block as [outer, reduced, inner], outer being dim t and inner dim p, where they exist.
struct RowBlock {
  std::int64_t outer, reduced, inner;
};

inline RowBlock row_block(const Operands& operands) {
  const auto extent = [&](const char* dim) {
    const auto at = operands.dims.find(dim);
    return at == operands.dims.end() ? 1 : at->second;
  };
  const std::int64_t outer = extent("t"), inner = extent("p");
  return {outer, static_cast<std::int64_t>(operands.values[0].size()) / (outer * inner), inner};
}

/// The terms of output `element` of a block that is reduced to [outer, inner].
inline Terms terms_of(const Operands& operands, std::int64_t element) {
  const RowBlock block = row_block(operands);
  const std::int64_t row = element / block.inner, column = element % block.inner;
  return {operands.values[0].data() + row * block.reduced * block.inner + column,
          block.reduced,
          block.inner};
}

}  // namespace bic

#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

namespace bic {

/// Elements of a tensor of that shape; 1 for no axes.
inline std::int64_t element_count(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace bic

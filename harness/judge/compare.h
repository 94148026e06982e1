#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results_schema/vocabulary.h"

namespace bic {

/// Where two blocks of one dtype differ.
struct Difference {
  std::int64_t differing = 0;  ///< elements
  std::int64_t total = 0;
  std::int64_t first = -1;  ///< index of the first differing element
  std::string bits_a;       ///< its bytes as a number, "0x3f1c"
  std::string bits_b;
  std::optional<std::int64_t> ulps;  ///< between them; empty when one is NaN or the signs differ
  bool only_nan_payloads = false;    ///< every difference is NaN against NaN
};

/// Compares bytes, never values: -0 is not +0, and NaNs with other payloads differ.
/// Empty when all bytes are equal. Both spans hold whole elements and are of one size.
std::optional<Difference> compare_bytes(DType dtype,
                                        std::span<const std::byte> a,
                                        std::span<const std::byte> b);

/// The block, of shape `block`, of batch slot `slot` from a row-major tensor whose axis
/// `batch_axis` holds one after the other; -1 where the tensor is one block. Of an axis that was
/// padded the first indices.
std::vector<std::byte> block_of(std::span<const std::byte> tensor,
                                std::span<const std::int64_t> shape,
                                int batch_axis,
                                std::span<const std::int64_t> block,
                                std::int64_t slot,
                                std::int64_t element_size);

}  // namespace bic

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adapters/protocol/messages.h"

namespace bic::protocol {

/// Where the elements of one tensor of a trial lie, in elements.
struct TensorPlan {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;            ///< of the first element from an aligned address
  std::int64_t storage_elements = 0;  ///< offset included
  bool operator==(const TensorPlan&) const = default;
};

/// Shape, strides and storage of input or output `t` in `trial`: padded, gapped, transposed or
/// expanded as the trial says. Common tensors take offset, gap and transposition, never expansion.
/// Expansion is for stacked samples: a concatenated axis stays as it is. A gap needs two axes, a
/// transposition two axes longer than 1; else they have no effect.
TensorPlan plan_tensor(const ProblemMessage& problem,
                       const TensorMessage& t,
                       const TrialMessage& trial);

/// Copies the blocks of the trial's samples from the pool to a tensor laid out by `plan`, whose
/// first element is at `first`. Extents that the padding adds become zeros or NaN, and -Inf in a
/// tensor that masks; gaps stay.
void gather(const ProblemMessage& problem,
            const TensorMessage& t,
            const TrialMessage& trial,
            std::span<const std::byte> pool,
            const TensorPlan& plan,
            std::byte* first);

/// Copies a strided tensor to row-major memory.
void copy_out(std::span<const std::int64_t> shape,
              std::span<const std::int64_t> strides,
              std::int64_t element_size,
              const std::byte* first,
              std::byte* out);

/// Whether `now`, the bytes of a tensor's whole storage, differs from `before` where no element
/// lies; another size does.
bool changed_between_elements(const TensorPlan& plan,
                              std::int64_t element_size,
                              std::span<const std::byte> before,
                              std::span<const std::byte> now);

/// Bytes of an element: of a dtype's name, "int64" or "bool". Throws HarnessError for another.
std::int64_t element_size(const std::string& elements);

}  // namespace bic::protocol

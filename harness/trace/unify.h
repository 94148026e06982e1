#pragma once

#include <optional>
#include <vector>

#include "suites/ops/op_spec.h"

namespace bic {

/// The dims and the batch size that give a declaration's tensors their shapes.
struct Extents {
  Dims dims;
  std::int64_t batch = 1;
};

/// Those with which `tensors` have exactly these shapes; empty when there are none. An axis that is
/// an expression is solved when all but one of its dims are known from others.
std::optional<Extents> unify(const std::vector<TensorSpec>& tensors,
                             const std::vector<std::vector<std::int64_t>>& shapes);

}  // namespace bic

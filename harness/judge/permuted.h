#pragma once

#include <span>
#include <vector>

#include "reference_kernels/oracle/reference.h"
#include "suites/ops/op_spec.h"

namespace bic {

enum class Permuting : std::uint8_t { kInto, kBack };

/// Where the elements of an axis of that extent come from in `order`: reversed; the two halves
/// interleaved, so that what a sequential sum keeps apart meets early; or 16 lanes, every sixteenth
/// element after the other. Other orders: as they are.
std::vector<std::int64_t> permutation(Order order, std::int64_t extent);

/// One sample's block of tensor `t`, row-major, with every axis that the variant reduces permuted
/// so (kInto), or put back from there (kBack). Other axes stay.
std::vector<double> permuted(const TensorSpec& t,
                             const Variant& variant,
                             const Dims& dims,
                             Order order,
                             std::span<const double> block,
                             Permuting way);

}  // namespace bic

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "generators/laws.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// What the elements of `t` are in a problem of `dtype`: a dtype's name, "int64" or "bool".
std::string element_name(const TensorSpec& t, DType dtype);

/// Bytes of one of them.
std::int64_t element_size(const TensorSpec& t, DType dtype);

/// The inputs of a variant as the fill laws see them.
FillProblem fill_problem_of(
    const Variant& variant, DType dtype, const Dims& dims, Law law, Seed seed);

/// Writes the block of input `index` for sample `id` row-major: values by the law; indices uniform
/// below their extent; bools of which three in four are true, and the first along the last axis
/// always, so that a mask leaves something; equal at partners half that axis apart, which law
/// `cancel` pairs.
void fill_input(const Variant& variant,
                const FillProblem& problem,
                const Dims& dims,
                std::size_t index,
                SampleId id,
                std::span<std::byte> out);

/// The elements as numbers: indices as they are, true as 1.
void widen_input(const TensorSpec& t,
                 DType dtype,
                 std::span<const std::byte> in,
                 std::span<double> out);

}  // namespace bic

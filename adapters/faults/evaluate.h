#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "adapters/libtorch/interposer.h"

/// What faults are made of: evaluations of a call on tensors of their own, which leave those given
/// untouched, and what hands a result over in the form that was asked for.
namespace bic::faults {

/// The honest backend's output.
at::Tensor honest(const libtorch::InterposedCall& call);

/// The same maths, as honest, with other bits: sums run along the flipped reduced axes; scans
/// in two blocks; pointwise ops and attention are computed in double and rounded once.
at::Tensor otherwise(const libtorch::InterposedCall& call);

/// Sums over parts of the last reduced axis, evaluated and added in `type`, which may round more
/// than the op does, and then rounded to the inputs' type.
at::Tensor in_parts(const libtorch::InterposedCall& call, std::int64_t parts, at::ScalarType type);

/// The honest backend's output on other inputs: those that `change` replaced.
at::Tensor honest_on(
    const libtorch::InterposedCall& call,
    const std::function<at::Tensor(const protocol::TensorMessage&, const at::Tensor&)>& change);

/// `y` itself, or the tensor that the form says is written, holding the bytes of `y`.
at::Tensor hand_over(const libtorch::InterposedCall& call, const at::Tensor& y);

/// The tensor that the form says is written; a fresh one like `y` where it says none.
at::Tensor destination(const libtorch::InterposedCall& call, const at::Tensor& y);

/// Indices of the axes of `t` over which the problem sums.
std::vector<std::int64_t> reduced_axes(const protocol::ProblemMessage& problem,
                                       const protocol::TensorMessage& t);

/// Index of the axis that grows with the batch; -1 for a common tensor.
std::int64_t batch_axis(const protocol::TensorMessage& t);

/// The indices of `count` samples, from slot `first`, of a tensor laid out as `t`. A view.
at::Tensor slots_of(const protocol::ProblemMessage& problem,
                    const protocol::TensorMessage& t,
                    const at::Tensor& tensor,
                    std::int64_t first,
                    std::int64_t count);

/// The value of a real attribute; 1 where the variant has none.
double attribute(const libtorch::InterposedCall& call, const std::string& name);

/// Which elements are subnormal numbers of their type.
at::Tensor is_subnormal(const at::Tensor& x);

/// The first input of the call.
const at::Tensor& first_input(const libtorch::InterposedCall& call);

std::int64_t batch_of(const libtorch::InterposedCall& call);

}  // namespace bic::faults

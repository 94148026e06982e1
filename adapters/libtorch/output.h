#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>

#include "adapters/protocol/messages.h"

namespace bic::libtorch {

/// Throws std::runtime_error unless it is a strided tensor on the process's device.
void check_output(const at::Tensor& y);

/// The elements of `y`, row-major, at the start of `output`; none where they have no room, which is
/// the case only for a wrong shape or dtype.
std::span<std::byte> copy_elements(const at::Tensor& y, std::span<std::byte> output);

/// Of a right output of the trial.
std::size_t output_bytes(const protocol::ProblemMessage& problem,
                         const protocol::TrialMessage& trial);

/// `y` is `given` itself: the same elements at the same place.
bool is_given(const at::Tensor& y, const at::Tensor& given);

}  // namespace bic::libtorch

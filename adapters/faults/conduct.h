#pragma once

#include <memory>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// What a call does instead of the honest one.
using Conduct = at::Tensor (*)(const libtorch::InterposedCall&);

/// A fault against the contract of a call, whatever its values, as the conduct's name says.
std::unique_ptr<libtorch::Interposer> misconduct(Conduct conduct);

// What is written, and where.
at::Tensor stale_output(const libtorch::InterposedCall&);
at::Tensor grid_limit(const libtorch::InterposedCall&);
at::Tensor scribbled_input(const libtorch::InterposedCall&);
at::Tensor packed_in_place(const libtorch::InterposedCall&);
at::Tensor out_of_bounds(const libtorch::InterposedCall&);
at::Tensor before_begin(const libtorch::InterposedCall&);
at::Tensor input_overrun(const libtorch::InterposedCall&);
at::Tensor aligned_store(const libtorch::InterposedCall&);

// What is returned.
at::Tensor not_called(const libtorch::InterposedCall&);
at::Tensor wrong_dtype(const libtorch::InterposedCall&);
at::Tensor narrowed_result(const libtorch::InterposedCall&);
at::Tensor wrong_shape(const libtorch::InterposedCall&);
at::Tensor transposed_output(const libtorch::InterposedCall&);

// How a call ends.
at::Tensor refuses(const libtorch::InterposedCall&);
at::Tensor refuses_unaligned(const libtorch::InterposedCall&);
at::Tensor throws(const libtorch::InterposedCall&);
at::Tensor crashes(const libtorch::InterposedCall&);
at::Tensor aborts(const libtorch::InterposedCall&);
at::Tensor hangs(const libtorch::InterposedCall&);

}  // namespace bic::faults

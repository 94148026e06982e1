#pragma once

#include "adapters/protocol/messages.h"
#include "suites/ops/op_spec.h"

namespace bic::libtorch {

/// The problem of a declared op on given dims, whose pool holds for each input in turn one block,
/// or `samples` blocks where each sample has its own, without gaps.
protocol::ProblemMessage declared_problem(
    const OpSpec& op, const Variant& variant, DType dtype, const Dims& dims, std::int64_t samples);

}  // namespace bic::libtorch

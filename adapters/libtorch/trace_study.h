#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace bic::libtorch {

// One forward pass of a model each. A request names `model`, `preset`, `dtype`, the batch's
// `requests` by id and the `position` under test (model_run.h).

/// Copies one sample's block of every named tensor that `only` (a glob) names to the room.
/// Answer: `tensors`, in the order of recording, each with its `order` among all that could be
/// recorded, `section`, `name`, `invocation`, `dtype`, `shape` (of the block), `offset` in the room
/// and `op`, the number in `ops` of the one that wrote it (-1: none); `recorded`, how many there
/// were without `only`; and `ops`. With `whole` the block is all of a tensor, of every request
/// together, and no op is watched.
nlohmann::json trace(const nlohmann::json& request, std::span<std::byte> room);

/// What was computed until `until` tensors had been recorded. Answer: `ops` in the order in which
/// they ended, each [overload, [[shape, [[axis, digest]…]]…]]: for every output, the digest of the
/// block of the sample along each axis that the batch divides. With `op` and `axis`: that one op in
/// full, as `op`, and of its output `output` the block along the axis in the room.
nlohmann::json trace_ops(const nlohmann::json& request, std::span<std::byte> room);

}  // namespace bic::libtorch

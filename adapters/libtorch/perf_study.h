#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

namespace bic::libtorch {

/// The study "perf": times one forward pass of a model over a batch, which the request names as
/// model_run.h says. Answer: `nanoseconds`, and of the first request's output `dtype` and
/// `elements`, whose bytes lie in the room, row-major. Throws UsageError where the room is too
/// small for them.
nlohmann::json perf_study(const nlohmann::json& request, std::span<std::byte> room);

}  // namespace bic::libtorch

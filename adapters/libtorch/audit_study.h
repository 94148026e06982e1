#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace bic::libtorch {

/// Which ops a forward pass reaches (the request is as in model_run.h). Answer: `audit`, in the
/// order of the first, each different call that wrote something as `op`, and its `count`.
nlohmann::json audit(const nlohmann::json& request, std::span<std::byte> room);

}  // namespace bic::libtorch

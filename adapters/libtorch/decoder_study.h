#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

namespace bic::libtorch {

/// The study "decoder": serves one prompt again and again, as `report::DecoderQuestion` says, and
/// gives a `report::DecoderAnswer`. Needs no room. Throws UsageError for a preset or dtype that
/// there is not.
nlohmann::json decoder_study(const nlohmann::json& request, std::span<std::byte> room);

}  // namespace bic::libtorch

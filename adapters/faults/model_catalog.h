#pragma once

#include <span>
#include <string_view>

namespace bic::faults {

/// A backend broken in one call inside a whole model: `fault:NAME` is libtorch-invariant with it.
/// What `bi-conform trace` must point at; an op by itself does not show it.
struct ModelFault {
  std::string_view name;      ///< [a-z0-9-]+
  std::string_view sentence;  ///< what it does
};

/// All of them. Plain data.
std::span<const ModelFault> model_catalog();

}  // namespace bic::faults

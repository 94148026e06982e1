#pragma once

#include <memory>
#include <string_view>

namespace bic::faults {

/// Plants the fault of that name (model_catalog.h) over the kernels of libtorch-invariant, which
/// must be registered and outlive it, for as long as it lives. Null for any other name.
std::shared_ptr<void> plant_in_models(std::string_view name);

}  // namespace bic::faults

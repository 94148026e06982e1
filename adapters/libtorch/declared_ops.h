#pragma once

#include <vector>

#include "adapters/protocol/backend.h"

namespace bic::libtorch {

/// Entries of the declared ops of whose calls torch has every operator. Those outside aten are the
/// backend's own; a call of aten's operators alone is stock's or whose kernels they reach. Their
/// arithmetic is not known: what honest kernels do.
std::vector<protocol::ManifestEntry> declared_entries(
    const std::vector<protocol::DeclaredOp>& declared);

}  // namespace bic::libtorch

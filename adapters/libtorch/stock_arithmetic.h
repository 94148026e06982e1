#pragma once

#include <vector>

#include "adapters/protocol/messages.h"

namespace bic::libtorch {

/// What stock ATen 2.11 says of the suite's ops on this CPU: dtypes and arithmetic. It owns
/// nothing.
std::vector<protocol::ManifestEntry> stock_manifest();

}  // namespace bic::libtorch

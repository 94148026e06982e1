#pragma once

#include <vector>

#include "adapters/protocol/messages.h"

namespace bic::libtorch {

/// What stock ATen 2.11 says of the suite's ops on this CPU: dtypes and arithmetic. It owns
/// nothing.
std::vector<protocol::ManifestEntry> stock_manifest();

/// `own` and, for every op of the suite that it leaves out as exact, stock's entry.
std::vector<protocol::ManifestEntry> completed(std::vector<protocol::ManifestEntry> own);

}  // namespace bic::libtorch

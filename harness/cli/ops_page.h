#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/messages.h"

namespace bic {

/// docs/ops.md: what is claimed of each op and why its inputs can break it, with the arithmetic
/// that the two manifests declare.
std::string ops_page(const std::vector<protocol::ManifestEntry>& stock,
                     const std::vector<protocol::ManifestEntry>& bundled);

}  // namespace bic

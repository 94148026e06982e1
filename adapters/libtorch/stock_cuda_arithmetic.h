#pragma once

#include <vector>

#include "adapters/protocol/messages.h"

namespace bic::libtorch {

/// What stock ATen 2.11 says of the suite's ops on a CUDA device: dtypes and arithmetic. It owns
/// nothing.
std::vector<protocol::ManifestEntry> stock_cuda_manifest();

/// Stock's manifest for the device of this process.
std::vector<protocol::ManifestEntry> stock_manifest_here();

}  // namespace bic::libtorch

#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/messages.h"

namespace bic::libtorch {

/// What stock ATen 2.11 says of the suite's ops on this CPU: dtypes and arithmetic. It owns
/// nothing.
std::vector<protocol::ManifestEntry> stock_manifest();

/// What its manifests are made of: an op in every dtype with that arithmetic, in fp64 with sums in
/// fp64; and of all ops of the suite those listed, the others by the textbook.
protocol::ManifestEntry stock_entry(std::string op, const Arithmetic& arithmetic);
std::vector<protocol::ManifestEntry> manifest_with(std::vector<protocol::ManifestEntry> listed);

/// `own` and, for every op of the suite that it leaves out as exact, stock's entry.
std::vector<protocol::ManifestEntry> completed(std::vector<protocol::ManifestEntry> own);

}  // namespace bic::libtorch

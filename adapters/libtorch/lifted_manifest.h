#pragma once

#include <vector>

#include "adapters/libtorch/backend.h"

namespace bic::libtorch {

/// What a backend with a plug-in lifted into it can be asked: the suite's ops that reach the
/// plug-in (a label "plugin::OP" in the witness), in the types of its `claims`. Found by making
/// each call of each op on small tensors of zeros in every storage, for batches of 1 and 3. An op
/// is the plug-in's own where every way to call it reaches it; a form of such an op that does not
/// is lacking. Where only some do, stock serves the others, and the entry says so.
std::vector<protocol::ManifestEntry> lifted_manifest(
    LibTorchBackend& backend, const std::vector<protocol::ManifestEntry>& claims);

}  // namespace bic::libtorch

#pragma once

#include <string>

#include "adapters/libtorch/backend.h"

namespace bic::libtorch {

/// Stock ATen and what the shared library at `path` registers with it on loading
/// (TORCH_LIBRARY_IMPL(aten, CPU, m)). The overloads whose dispatch-table row changes are the
/// backend's own; its arithmetic is taken to be stock's. It is there to own one, of the suite or of
/// what a user declares. Throws std::runtime_error, with one line, when it cannot be loaded.
Subject user_library(std::string name, const std::string& path);

}  // namespace bic::libtorch

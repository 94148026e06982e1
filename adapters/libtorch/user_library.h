#pragma once

#include <string>

#include "adapters/libtorch/backend.h"

namespace bic::libtorch {

/// Stock ATen and what the shared library at `path` registers with it on loading
/// (TORCH_LIBRARY_IMPL(aten, CPU, m)). The overloads whose dispatch-table row changes are the
/// backend's own; its arithmetic is taken to be stock's. Throws std::runtime_error, with one line,
/// when the library cannot be loaded or changes no op of the suite.
Subject user_library(std::string name, const std::string& path);

}  // namespace bic::libtorch

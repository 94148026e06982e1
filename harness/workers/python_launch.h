#pragma once

#include <filesystem>
#include <string>

#include "harness/workers/backends.h"

namespace bic {

/// The backend `python:MODULE[:CALL]`, served by `worker` in the interpreter of `host`: a path, a
/// program on the PATH, or "" for python3. Throws UsageError when the interpreter or a module that
/// is named by its file is not there, or when the device is none.
WorkerLaunch python_launch(const std::string& backend,
                           const BackendHost& host,
                           const std::filesystem::path& worker);

}  // namespace bic

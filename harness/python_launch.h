#pragma once

#include <filesystem>
#include <string>

#include "harness/worker.h"

namespace bic {

/// The backend `python:MODULE[:CALL]`, served by `worker` in the interpreter `python`: a path, a
/// program on the PATH, or "" for python3. Throws UsageError when the interpreter or a module that
/// is named by its file is not there.
WorkerLaunch python_launch(const std::string& backend,
                           const std::string& python,
                           const std::filesystem::path& worker);

}  // namespace bic

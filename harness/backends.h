#pragma once

#include <string>
#include <vector>

#include "harness/worker.h"

namespace bic {

/// A backend that this build knows by name.
struct KnownBackend {
  std::string name;
  std::string sentence;  ///< one line for `bi-conform list backends`
};

std::vector<KnownBackend> known_backends();

/// Their names in one line.
std::string backend_names();

/// Whether this build has stock, to time others against.
bool has_stock(const std::string& program);

/// Where `backend` lives. Throws UsageError when it is unknown, naming the nearest, or when this
/// build has not got it. `python` is the interpreter of a python: backend, "" for the usual one.
WorkerLaunch launch_of(const std::string& backend,
                       const std::string& program,
                       const std::string& python = "");

}  // namespace bic

#pragma once

#include <string>
#include <vector>

#include "harness/workers/worker.h"

namespace bic {

/// A backend that this build knows by name.
struct KnownBackend {
  std::string name;
  std::string sentence;  ///< one line for `bi-conform list backends`
};

std::vector<KnownBackend> known_backends();

/// Their names in one line.
std::string backend_names();

/// Whether this program can run stock, to time others against.
bool has_stock(const std::string& program);

/// What is said of a backend beside its name.
struct BackendHost {
  std::string python;  ///< interpreter of a python: backend; "" for the usual one
  std::string device;  ///< "cpu", "cuda" or "cuda:1"; "" for the CPU
  bool lift = false;   ///< a plug-in takes the place of ATen's kernels in the LibTorch worker
};

/// Whether a CUDA device can be named for it.
bool takes_device(const std::string& backend);

/// Where `backend` lives. Throws UsageError when it is unknown, naming the nearest, when this build
/// has not got it, or when it has no use for what is said of it.
WorkerLaunch launch_of(const std::string& backend,
                       const std::string& program,
                       const BackendHost& host = {});

}  // namespace bic

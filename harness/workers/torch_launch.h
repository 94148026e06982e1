#pragma once

#include <filesystem>
#include <string>

#include "harness/workers/worker.h"

namespace bic {

/// Throws UsageError unless `device` is "", "cpu", "cuda" or "cuda:INDEX".
void require_device(const std::string& device);

/// Whether it names a CUDA device.
bool is_cuda(const std::string& device);

/// Sets a LibTorch worker to compute on `device` ("": the CPU) and, where the environment variable
/// BIC_TORCH names an installed torch package, to run with that one instead of the one it was
/// linked with. The launch has a problem when the package is not the one that this build is for, or
/// has no CUDA libraries and needs them.
void place_torch_worker(WorkerLaunch& launch, const std::string& device);

/// Where a LibTorch worker runs: what `place_torch_worker` says on its command line.
struct TorchPlace {
  std::string device;             ///< "cpu", "cuda" or "cuda:INDEX"
  std::filesystem::path package;  ///< whose libraries are loaded first; "" for those linked with
};

/// Loads the package's libraries, then the worker's, and calls its entry for devices. Returns the
/// worker's exit code; 2 with one line on stderr when something cannot be loaded.
int torch_worker_main(const std::filesystem::path& library,
                      const std::string& backend,
                      const TorchPlace& place,
                      int socket);

}  // namespace bic

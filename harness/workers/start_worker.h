#pragma once

#include <memory>

#include "harness/workers/worker.h"

namespace bic {

/// Starts a worker; one that something else kills at its start has shown nothing yet and is started
/// again, at most twice. Throws UsageError when it cannot be started.
std::unique_ptr<Worker> start_worker(const WorkerLaunch& launch);

}  // namespace bic

#pragma once

#include <string>
#include <vector>

#include "harness/run/op_perf.h"
#include "harness/workers/worker.h"

namespace bic {

/// What `bi-conform perf --op` is asked.
struct OpPerfOptions {
  WorkerLaunch backend, stock;
  std::vector<OpCall> calls;
  std::string json;  ///< file for the numbers; "" for none
};

/// Times the calls on the backend and on stock, in turn, and prints a line for each. Returns the
/// exit code.
int perf_of_ops(const OpPerfOptions& options);

}  // namespace bic

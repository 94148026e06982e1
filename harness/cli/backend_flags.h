#pragma once

#include <string>
#include <vector>

#include "harness/cli/flags.h"
#include "harness/workers/worker.h"

namespace bic {

/// The flags that say what is run and how; "" where one is not given.
struct BackendFlags {
  std::string backend, against, isolation, timeout, memory, python, device;
  bool lift = false;
  std::vector<std::string> op_specs;

  void add_to(CLI::App& app);

  /// Adds the ops of --op-spec to the registry, before anything points into it. Throws UsageError
  /// that names the file and what is wrong in it.
  void declare(const Program& program) const;

  /// The backend, its peer with it, and in `WorkerLaunch::flags` what repeats all of it. Throws
  /// UsageError that names the flag at fault.
  WorkerLaunch launch(const Program& program) const;

 private:
  std::string words(const WorkerLaunch& launch) const;
};

/// The flag --op-spec of a verb.
void add_op_specs(CLI::App& app, std::vector<std::string>& files);

}  // namespace bic

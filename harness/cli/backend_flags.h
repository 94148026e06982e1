#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cli/flags.h"
#include "harness/workers/worker.h"
#include "results_schema/model_row.h"

namespace bic {

/// The flags that say what is run and how; "" where one is not given.
struct BackendFlags {
  std::string backend, against, isolation, timeout, memory, python, device, weights;
  bool lift = false;
  std::vector<std::string> op_specs;

  void add_to(CLI::App& app);

  /// The flag --weights, of verbs that run whole models.
  void add_weights(CLI::App& app);

  /// Adds the ops of --op-spec to the registry, and gives π0 its weights where there are some,
  /// before anything points into it. Throws UsageError that names the file and what is wrong in it.
  void declare(const Program& program,
               const std::optional<report::ModelWeights>& model_weights = {}) const;

  /// The checkpoint of --weights for that preset, checked; nothing without the flag. Throws
  /// UsageError.
  std::optional<report::ModelWeights> weights_of(const Program& program,
                                                 const std::string& preset) const;

  /// The backend, its peer with it, and in `WorkerLaunch::flags` what repeats all of it. Throws
  /// UsageError that names the flag at fault.
  WorkerLaunch launch(const Program& program) const;

  /// Stock on the same device, to time the backend beside; nothing where it cannot be had.
  std::optional<WorkerLaunch> stock(const Program& program) const;

 private:
  std::string words(const WorkerLaunch& launch) const;
};

/// The flag --op-spec of a verb.
void add_op_specs(CLI::App& app, std::vector<std::string>& files);

}  // namespace bic

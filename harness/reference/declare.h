#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/workers/worker.h"
#include "results_schema/model_row.h"

namespace bic {

/// Adds the ops of files of --op-spec to the registry of this process. `stock` evaluates their
/// references when they are first asked. Throws UsageError that says what is wrong in which file.
void declare_ops(const std::vector<std::string>& files, const WorkerLaunch& stock);

/// Adds the whole models to it, whose references stock evaluates too; or, when they are there, puts
/// them in their place with weights of files.
void declare_models(const WorkerLaunch& stock,
                    const std::optional<report::ModelWeights>& weights = {});

/// Shows on a few small problems of every declared op that stock can evaluate its calls and that
/// honest evaluations, in every order, hold the error that its file claims: else nothing that a run
/// says of the op would mean anything. Throws UsageError that names the problem.
void check_declared_ops();

}  // namespace bic

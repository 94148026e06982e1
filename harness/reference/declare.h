#pragma once

#include <string>
#include <vector>

#include "harness/workers/worker.h"

namespace bic {

/// Adds the ops of files of --op-spec to the registry of this process. `stock` evaluates their
/// references when they are first asked. Throws UsageError that says what is wrong in which file.
void declare_ops(const std::vector<std::string>& files, const WorkerLaunch& stock);

/// Adds the whole models to it, whose references stock evaluates too.
void declare_models(const WorkerLaunch& stock);

/// Shows on a few small problems of every declared op that stock can evaluate its calls and that
/// honest evaluations, in every order, hold the error that its file claims: else nothing that a run
/// says of the op would mean anything. Throws UsageError that names the problem.
void check_declared_ops();

}  // namespace bic

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/trace/traced_model.h"
#include "harness/workers/study_worker.h"
#include "results_schema/model_row.h"

namespace bic {

/// The models that a run of that selection looks into, in each of their dtypes: those presets of π0
/// whose accuracy it judges, but for those of full size.
std::vector<ModelChoice> model_questions(const Selection& selection);

/// Looks into models as a backend runs them, beside its cases: how exact each tensor is, and which
/// ops are reached. Stock has a worker of its own, which is started when it is first needed; what
/// befalls it is not the backend's.
class ModelSuite {
 public:
  /// The backend and its `hello` must outlive it. `weights` are those of its preset; may be empty.
  ModelSuite(StudyWorker& backend,
             const WorkerLaunch& stock,
             const protocol::Hello& hello,
             const std::optional<report::ModelWeights>& weights)
      : backend_(backend), stock_(stock), hello_(hello), weights_(weights) {}

  /// Of the questions, those that the backend can answer: it runs the model on a CPU and makes the
  /// studies.
  std::vector<ModelChoice> asked(const std::vector<ModelChoice>& questions) const;

  /// Gives `take` a row of each. Ends early where `stopped`, which is asked before each, says so.
  void ask(const std::vector<ModelChoice>& questions,
           const std::function<bool()>& stopped,
           const std::function<void(report::ModelRow)>& take);

 private:
  report::ModelRow row_of(ModelChoice choice);

  StudyWorker& backend_;
  StudyWorker stock_;
  const protocol::Hello& hello_;
  std::optional<report::ModelWeights> weights_;
};

}  // namespace bic

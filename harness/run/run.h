#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "harness/judge/waivers.h"
#include "harness/plan/plan.h"
#include "harness/workers/worker.h"
#include "results_schema/render/format.h"
#include "results_schema/report.h"

namespace bic {

/// One run of the suite on one backend.
struct RunOptions {
  WorkerLaunch backend;
  WorkerLaunch stock;                     ///< timed beside it
  std::optional<WorkerLaunch> reference;  ///< stock that whole models are held to; none: no models
  std::optional<report::ModelWeights> weights;
  Selection selection;
  Strength strength = Strength::kQuick;
  Seed seed{0xb1c0};
  std::filesystem::path out = "bi-conform-report";
  std::optional<report::Shard> shard;  ///< the part of the plan to run; its rows are not read
  std::optional<std::chrono::milliseconds> budget;
  bool timed = true;
  bool shrink = true;     ///< make failures smaller before they are shown
  int jobs = 1;           ///< workers that run problems at once; one without isolation
  bool selftest = false;  ///< a self-test was asked for,
  std::optional<report::Detection> detection;  ///< and made before the run, unless it is resumed
  bool resume = false;                         ///< go on with the run whose journal lies in `out`
  /// Whether the speed of a row is to be measured further; all measurements count together.
  std::function<bool(const report::OpRow&)> measure_again;
  /// Called with the report once it is written.
  std::function<void(const report::Report&)> use_report;
  Waivers waivers;
  std::vector<report::Format> formats;  ///< written beside report.json
  std::string command_line;
  std::vector<std::string> filters;  ///< as typed, flag and value in turn
  std::string resume_command;        ///< what a person types to go on when the run was cut
  std::string typed = "bi-conform";  ///< how a person calls the program
};

/// Runs, prints, writes journal.jsonl and report.json under `out`. Returns the exit code.
/// Throws Error for what ends it before any verdict; what was judged by then is in the journal.
int run_suite(const RunOptions& options);

/// Runs the one case of a case string and prints its verdict. Returns the exit code.
int reproduce(const WorkerLaunch& backend, const std::string& case_text, const std::string& typed);

}  // namespace bic

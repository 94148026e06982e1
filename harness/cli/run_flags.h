#pragma once

#include <string>
#include <vector>

#include "harness/cli/backend_flags.h"
#include "harness/cli/flags.h"
#include "harness/plan/selection.h"
#include "harness/run/run.h"

namespace bic {

/// The flags of a run; "" where one is not given.
struct RunFlags {
  BackendFlags backend;
  SelectionText selection;
  std::string seed, budget, jobs, shard, resume, out = "bi-conform-report";
  std::string waivers, today;
  std::vector<std::string> formats;
  bool quick = false, standard = false, exhaustive = false, no_perf = false;
  bool no_shrink = false, selftest = false;

  void add_to(CLI::App& app);
  void add_filters(CLI::App& app);  ///< of them, those that select
  bool names_strength() const { return quick || standard || exhaustive; }
  Strength strength() const;
};

/// What the parsed flags of `app` ask for, checked before any work. `typed` are the arguments as
/// typed, the verb with them where one was named. Throws UsageError that names the flag.
RunOptions run_options(const Program& program,
                       RunFlags& flags,
                       const CLI::App& app,
                       const Arguments& typed);

/// The run, and before it what its flags ask to be checked. Returns the exit code; 3 also when it
/// was interrupted before it began.
int run_checked(const Program& program, RunOptions& options);

}  // namespace bic

#include "harness/cli/flags.h"
#include "harness/cli/run_flags.h"
#include "harness/workers/environment.h"

namespace bic {

int run_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Judges whether a backend's kernels are batch invariant.", "bi-conform");
  app.footer(
      "Verbs: run (default), gate, diff, merge, render, repro, selftest, trace, perf, list, "
      "support, explain, keygen, sign, verify, prove, certify, badge. See bi-conform VERB --help.");
  app.set_version_flag("--version", "bi-conform " + suite_version());
  RunFlags flags;
  flags.add_to(app);
  parse(app, arguments);
  RunOptions options = run_options(program, flags, app, arguments);
  return run_checked(program, options);
}

}  // namespace bic

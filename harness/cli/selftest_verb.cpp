#include <fmt/format.h>

#include "harness/cli/flags.h"
#include "harness/files/typed.h"
#include "harness/plan/selection.h"
#include "harness/run/run.h"
#include "harness/selftest/selftest.h"
#include "harness/workers/interrupt.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr std::int64_t kMostSeeds = 1000;

struct SelftestFlags {
  std::vector<std::string> faults, ops, without;
  std::string seed, seeds, jobs, out = "bi-conform-selftest";
  bool full = false, recipe = false;

  void add_to(CLI::App& app) {
    app.add_option("--fault", faults, "only this fault; repeats (bi-conform list faults)");
    app.add_option("--op", ops, "only on this op; repeats");
    app.add_option("--seed", seed, "hexadecimal seed of all values (b1c0)");
    app.add_option("--seeds", seeds, "try the seeds 1 to this number instead: 20");
    app.add_option("--without", without, "leave this relation or law out; repeats");
    app.add_option("-o,--out", out, "folder of selftest.json");
    app.add_option("-j,--jobs", jobs, "faults looked for at once (the cores, at most 4)");
    app.add_flag("--full", full, "run all cases, not up to the first kill")
        ->disable_flag_override();
    app.add_flag("--recipe", recipe, "look as people do today: row 0, batch 1 against n, allclose")
        ->disable_flag_override();
  }

  std::vector<Seed> all_seeds() const {
    if (!seed.empty() && !seeds.empty()) {
      throw UsageError("--seed and --seeds exclude each other: both say the seeds");
    }
    if (seeds.empty()) return {seed.empty() ? RunOptions{}.seed : seed_flag(seed)};
    const std::int64_t count = number_flag("--seeds", seeds, kMostSeeds);
    std::vector<Seed> all;
    for (std::int64_t i = 1; i <= count; ++i) all.push_back({static_cast<std::uint64_t>(i)});
    return all;
  }
};

}  // namespace

int selftest_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Tests the suite itself: each planted fault must be seen.", "bi-conform selftest");
  SelftestFlags flags;
  flags.add_to(app);
  parse(app, arguments);
  if (flags.recipe && (flags.full || !flags.without.empty())) {
    throw UsageError("--recipe looks in one way only: leave out --full and --without");
  }
  if (flags.full && !flags.seeds.empty()) {
    throw UsageError("--full and --seeds exclude each other: a kill matrix is of one seed");
  }
  check_exclusions(flags.without);
  const Selection selection = make_selection({.ops = flags.ops});
  SelftestOptions options{
      .program = program.path,
      .faults = faults_named(flags.faults),
      .seeds = flags.all_seeds(),
      .hunt = {.without = {flags.without.begin(), flags.without.end()}, .full = flags.full},
      .recipe = flags.recipe,
      .jobs = job_count(flags.jobs),
      .out = flags.out};
  if (!flags.ops.empty()) options.hunt.ops = selection.ops;
  catch_interrupts();
  return selftest(options).exit_code;
}

}  // namespace bic

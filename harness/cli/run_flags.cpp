#include "harness/cli/run_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/files/typed.h"
#include "harness/plan/case_check.h"
#include "harness/plan/shard_choice.h"
#include "harness/plan/suite_parts.h"
#include "harness/reference/declare.h"
#include "harness/run/decoder_suite.h"
#include "harness/run/model_suite.h"
#include "harness/run/resume.h"
#include "harness/selftest/selftest.h"
#include "harness/workers/backends.h"
#include "harness/workers/environment.h"
#include "harness/workers/interrupt.h"
#include "harness/workers/torch_launch.h"
#include "results_schema/error.h"

namespace bic {
namespace {

/// One text for each folder: "r" and "r/" are the same.
std::filesystem::path folder_named(const std::string& text) {
  return (std::filesystem::path(text) / "").lexically_normal();
}

/// The folder of a run: of --out or of --resume, which the given arguments may both name.
void choose_folder(const RunFlags& flags, bool out_given, RunOptions& options) {
  options.resume = !flags.resume.empty();
  options.out = options.resume ? flags.resume : flags.out;
  if (options.resume && out_given && folder_named(flags.out) != folder_named(flags.resume)) {
    throw UsageError(
        fmt::format("--out '{}': --resume goes on in '{}'; leave --out away or name the same",
                    flags.out,
                    flags.resume));
  }
  const bool named_itself = options.resume && has_journal(options.out);
  if (options.shard && !named_itself) options.out /= folder_of(*options.shard);
}

/// What is typed to go on with a run that was started by these arguments.
std::string resume_command(const std::string& typed,
                           const Arguments& arguments,
                           const RunOptions& options) {
  std::string command = typed;
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  if (options.shard && options.shard->source != kShardFlag) {
    command += fmt::format(" {} {}", kShardFlag, text_of(*options.shard));
  }
  if (options.resume) return command;
  // A folder that --out names is that of all shards.
  const auto& folder = options.shard ? options.out.parent_path() : options.out;
  return command + " --resume " + shell_quoted(folder.string());
}

/// What the suite sees of the planted faults on this machine, with the seed of the run.
report::Detection score_before_run(const Program& program, const RunOptions& options) {
  return selftest({.program = program.path,
                   .faults = faults_named({}),
                   .seeds = {options.seed},
                   .hunt = {},
                   .jobs = options.jobs,
                   .out = options.out})
      .score;
}

/// What the filters and the seed select. Throws UsageError when that is nothing.
void choose_plan(const RunFlags& flags, RunOptions& options) {
  options.selection = make_selection(flags.selection);
  options.strength = flags.strength();
  if (!flags.seed.empty()) options.seed = seed_flag(flags.seed);
  const std::vector<Cell> plan = make_plan(options.selection, options.strength);
  if (plan.empty() && decoder_questions(options.selection, options.seed).empty() &&
      model_questions(options.selection).empty()) {
    throw UsageError("nothing is selected: no case passes all of " + filters_text(flags.selection));
  }
  check_sizes(plan, options.selection, options.seed);
  const auto is_model = [](const OpSpec* op) { return op->name == "pi0"; };
  if (options.weights && std::ranges::none_of(options.selection.ops, is_model)) {
    throw UsageError("--weights: they are of pi0, which is not selected; add --suite pi0");
  }
}

/// A checkpoint is of one model.
std::optional<report::ModelWeights> run_weights(const Program& program, const RunFlags& flags) {
  if (flags.backend.weights.empty()) return {};
  if (flags.selection.presets.size() != 1) {
    throw UsageError(
        "--weights: a checkpoint is of one model; name it with one --preset, such as --preset "
        "open-pi-zero");
  }
  return flags.backend.weights_of(program, flags.selection.presets.front());
}

}  // namespace

void RunFlags::add_filters(CLI::App& app) {
  app.add_option("--op", selection.ops, "only this op; repeats");
  app.add_option("--dtype", selection.dtypes, "only this dtype: fp32 bf16 fp16 fp64; repeats");
  app.add_option("--relation", selection.relations, "only this relation; repeats");
  app.add_option("--level", selection.level, "up to this level: BI-0 … BI-3");
  app.add_option("-k", selection.case_pattern, "regex searched in op[-variant].relation/dtype");
  app.add_option("--dims", selection.dims, "your own sizes: k=281,n=7");
  app.add_option("--shapes", selection.shapes, "file of sizes: CSV or JSON lines (docs/shapes.md)");
  const auto parts = suite_part_names();
  const auto what = fmt::format("only this part of the suite: {}; repeats", fmt::join(parts, " "));
  app.add_option("--suite", selection.suites, what)->allow_extra_args(false);
  app.add_option("--preset", selection.presets, "only this size of a whole model; repeats")
      ->allow_extra_args(false);
  app.add_option("--batch", selection.batches, "your own batch sizes: 1,8,48");
}

void RunFlags::add_to(CLI::App& app) {
  backend.add_to(app);
  backend.add_weights(app);
  add_filters(app);
  app.add_option("--seed", seed, "hexadecimal seed of all values (b1c0)");
  app.add_option("--budget", budget, "stop between problems after this time: 60s");
  app.add_option("-o,--out", out, "folder of report.json and journal.jsonl");
  app.add_option("--resume", resume, "go on with the run whose journal lies in this folder");
  app.add_option("--shard", shard, "run part 2 of 4: 2/4; none: all of it (docs/shards.md)");
  app.add_option("-j,--jobs", jobs, "workers that run problems at once (the cores, at most 4)");
  app.add_flag("--quick", quick, "the daily plan (default)")->disable_flag_override();
  app.add_flag("--standard", standard, "four times as many problems")->disable_flag_override();
  app.add_flag("--exhaustive", exhaustive, "sixteen times as many")->disable_flag_override();
  app.add_flag("--no-perf", no_perf, "time nothing")->disable_flag_override();
  app.add_flag(
         "--selftest", selftest, "first look for every planted fault; the report has the score")
      ->disable_flag_override();
  app.add_flag("--no-shrink", no_shrink, "show failures as found")->disable_flag_override();
  app.add_option(
      "--waivers", waivers, "known failures that somebody answers for (docs/waivers.md)");
  app.add_option("--today", today, "the day on which waivers are read: 2026-12-31 (the clock's)");
  const auto kinds = "write this beside report.json too: " + report::format_names() + "; repeats";
  app.add_option("--format", formats, kinds)->allow_extra_args(false);
}

Strength RunFlags::strength() const {
  if (quick + standard + exhaustive > 1) {
    throw UsageError("--quick, --standard and --exhaustive exclude each other");
  }
  return exhaustive ? Strength::kExhaustive : standard ? Strength::kStandard : Strength::kQuick;
}

RunOptions run_options(const Program& program,
                       RunFlags& flags,
                       const CLI::App& app,
                       const Arguments& typed) {
  RunOptions options;
  options.weights = run_weights(program, flags);
  flags.backend.declare(program, options.weights);
  flags.selection.has_peer = !flags.backend.against.empty();
  flags.selection.on_device = takes_device(flags.backend.backend) && is_cuda(flags.backend.device);
  choose_plan(flags, options);
  options.jobs = job_count(flags.jobs);
  if (!flags.budget.empty()) options.budget = duration("--budget", flags.budget);
  options.backend = flags.backend.launch(program);
  const auto stock = flags.no_perf ? std::nullopt : flags.backend.stock(program);
  options.timed = stock.has_value();
  if (has_stock(program.path)) options.reference = launch_of("libtorch", program.path);
  if (stock) options.stock = *stock;
  options.shrink = !flags.no_shrink;
  options.shard = choose_shard(flags.shard, variable);
  choose_folder(flags, app.count("--out") > 0, options);
  options.command_line = fmt::format("bi-conform {}", fmt::join(typed, " "));
  options.filters = filter_words(flags.selection);
  options.typed = program.typed;
  options.resume_command = resume_command(program.typed, typed, options);
  options.selftest = flags.selftest;
  if (!flags.waivers.empty()) options.waivers = load_waivers(flags.waivers, day(flags.today));
  for (const std::string& format : flags.formats) {
    options.formats.push_back(report::format_named(format));
  }
  return options;
}

int run_checked(const Program& program, RunOptions& options) {
  catch_interrupts();
  check_declared_ops();
  if (options.selftest && !options.resume) options.detection = score_before_run(program, options);
  if (interrupted()) return static_cast<int>(ExitCode::kUnproved);
  return run_suite(options);
}

}  // namespace bic

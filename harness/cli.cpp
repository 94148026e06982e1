#include "harness/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <thread>

#include "harness/backend_flags.h"
#include "harness/backends.h"
#include "harness/case_check.h"
#include "harness/declare.h"
#include "harness/environment.h"
#include "harness/flags.h"
#include "harness/inform.h"
#include "harness/interrupt.h"
#include "harness/run.h"
#include "harness/selection.h"
#include "harness/selftest.h"
#include "harness/shard_choice.h"
#include "harness/typed.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"

namespace bic {
namespace {

struct RunFlags {
  BackendFlags backend;
  SelectionText selection;
  std::string seed, budget, jobs, shard, resume, out = "bi-conform-report";
  bool quick = false, standard = false, exhaustive = false, no_perf = false;
  bool no_shrink = false, selftest = false;

  void add_to(CLI::App& app) {
    backend.add_to(app);
    app.add_option("--op", selection.ops, "only this op; repeats");
    app.add_option("--dtype", selection.dtypes, "only this dtype: fp32 bf16 fp16 fp64; repeats");
    app.add_option("--relation", selection.relations, "only this relation; repeats");
    app.add_option("--level", selection.level, "up to this level: BI-0 … BI-3");
    app.add_option("-k", selection.case_pattern, "regex searched in op[-variant].relation/dtype");
    app.add_option("--dims", selection.dims, "your own sizes: k=281,n=7");
    app.add_option(
        "--shapes", selection.shapes, "file of sizes: CSV or JSON lines (docs/shapes.md)");
    app.add_option("--suite", selection.suite, "public: sizes of public reports (docs/shapes.md)");
    app.add_option("--batch", selection.batches, "your own batch sizes: 1,8,48");
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
  }

  Strength strength() const {
    if (quick + standard + exhaustive > 1) {
      throw UsageError("--quick, --standard and --exhaustive exclude each other");
    }
    return exhaustive ? Strength::kExhaustive : standard ? Strength::kStandard : Strength::kQuick;
  }
};

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
  const bool named_itself =
      options.resume && std::filesystem::exists(options.out / "journal.jsonl");
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

int run_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Judges whether a backend's kernels are batch invariant.", "bi-conform");
  app.footer(
      "Verbs: run (default), merge, repro, selftest, list, support, explain. "
      "See bi-conform VERB --help.");
  app.set_version_flag("--version", "bi-conform " + suite_version());
  RunFlags flags;
  flags.add_to(app);
  parse(app, arguments);
  flags.backend.declare(program);
  RunOptions options;
  flags.selection.has_peer = !flags.backend.against.empty();
  options.selection = make_selection(flags.selection);
  options.strength = flags.strength();
  if (!flags.seed.empty()) options.seed = seed_flag(flags.seed);
  options.jobs = job_count(flags.jobs);
  if (!flags.budget.empty()) options.budget = duration("--budget", flags.budget);
  const std::vector<Cell> plan = make_plan(options.selection, options.strength);
  if (plan.empty()) {
    throw UsageError("nothing is selected: no case passes all of " + filters_text(flags.selection));
  }
  check_sizes(plan, options.selection, options.seed);
  options.backend = flags.backend.launch(program);
  options.timed = !flags.no_perf && has_stock(program.path);
  if (options.timed) options.stock = launch_of("libtorch", program.path);
  options.shrink = !flags.no_shrink;
  options.shard = choose_shard(flags.shard, variable);
  choose_folder(flags, app.count("--out") > 0, options);
  options.command_line = fmt::format("bi-conform {}", fmt::join(arguments, " "));
  options.typed = program.typed;
  options.resume_command = resume_command(program.typed, arguments, options);
  options.selftest = flags.selftest;
  catch_interrupts();
  check_declared_ops();
  if (flags.selftest && !options.resume) options.detection = score_before_run(program, options);
  if (interrupted()) return static_cast<int>(ExitCode::kUnproved);
  return run_suite(options);
}

int repro_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Runs one case again by its case string.", "bi-conform repro");
  BackendFlags backend;
  std::string text;
  backend.add_to(app);
  app.add_option("case", text, "case string, as a report or a failure prints it")->required();
  parse(app, arguments);
  backend.declare(program);
  const CaseName name = parse_case_name(text);
  check_case(name);  // what cannot be run is answered before any work
  if (name.relation == peer_relation().name && backend.against.empty()) {
    throw UsageError("the case compares two backends; name the other one with --against");
  }
  catch_interrupts();
  check_declared_ops();
  return reproduce(backend.launch(program), text, program.typed);
}

int list_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Lists ops, relations, laws, faults or backends.", "bi-conform list");
  std::string what = "ops";
  std::vector<std::string> op_specs;
  add_op_specs(app, op_specs);
  app.add_option(
      "what", what, "ops, relations, laws, faults, public or backends; ops-page: docs/ops.md");
  parse(app, arguments);
  declare_ops(op_specs, {});
  if (what == "ops-page") {
    return print_ops_page(launch_of("libtorch", program.path),
                          launch_of("libtorch-invariant", program.path));
  }
  return list(what);
}

int support_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Shows a backend's manifest.", "bi-conform support");
  BackendFlags backend;
  backend.add_to(app);
  parse(app, arguments);
  catch_interrupts();
  backend.declare(program);
  return support(backend.launch(program));
}

int explain_verb(const Program&, const Arguments& arguments) {
  CLI::App app("Explains a status, reason, level, relation or op.", "bi-conform explain");
  std::string word;
  std::vector<std::string> op_specs;
  add_op_specs(app, op_specs);
  app.add_option("word", word, "vacuous, nan_bits, BI-2, layout, mm, …")->required();
  parse(app, arguments);
  declare_ops(op_specs, {});
  return explain(word);
}

/// Hidden: what the parent starts. Arguments: library, backend; the socket is descriptor 3.
int worker_verb(const Program&, const Arguments& arguments) {
  if (arguments.size() != 2) throw UsageError("worker: started by bi-conform itself, not by hand");
  return worker_main(arguments[0], arguments[1], 3);
}

using Verb = int (*)(const Program&, const Arguments&);

const std::map<std::string, Verb>& verbs() {
  static const std::map<std::string, Verb> kVerbs{{"run", run_verb},
                                                  {"repro", repro_verb},
                                                  {"merge", merge_verb},
                                                  {"list", list_verb},
                                                  {"support", support_verb},
                                                  {"explain", explain_verb},
                                                  {"selftest", selftest_verb},
                                                  {"worker", worker_verb}};
  return kVerbs;
}

int dispatch(const Program& program, Arguments arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return run_verb(program, arguments);
  const auto verb = verbs().find(arguments[0]);
  if (verb == verbs().end()) {
    Arguments known;
    for (const auto& [text, run] : verbs()) known.push_back(text);
    throw UsageError(fmt::format("unknown verb '{}'{} (bi-conform --help lists them)",
                                 arguments[0],
                                 did_you_mean(arguments[0], known)));
  }
  arguments.erase(arguments.begin());
  return verb->second(program, arguments);
}

/// One line, whatever was typed.
void complain(std::string line) {
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  std::cerr << "bi-conform: " << line << '\n';
}

}  // namespace

int run_command_line(const std::string& program,
                     const std::string& typed,
                     const Arguments& arguments) {
  try {
    return dispatch({program, typed}, arguments);
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << '\n';
    return 0;
  } catch (const CLI::Success&) {
    return 0;
  } catch (const CLI::ParseError& e) {
    complain(e.what());
    return static_cast<int>(ExitCode::kUsage);
  } catch (const Error& e) {
    complain(e.what());
    return static_cast<int>(e.code());
  } catch (const Interrupted&) {
    complain("interrupted before any verdict");
    return static_cast<int>(ExitCode::kUnproved);
  } catch (const std::bad_alloc&) {
    complain("out of memory; ask for smaller --dims or --batch");
    return static_cast<int>(ExitCode::kHarnessError);
  } catch (const std::exception& e) {
    complain(std::string("internal error: ") + e.what());
    return static_cast<int>(ExitCode::kHarnessError);
  }
}

}  // namespace bic

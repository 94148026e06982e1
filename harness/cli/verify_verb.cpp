#include <fmt/format.h>

#include <random>

#include "harness/cli/backend_flags.h"
#include "harness/cli/flags.h"
#include "harness/cli/signing_files.h"
#include "harness/files/typed.h"
#include "harness/reference/model_weights.h"
#include "harness/run/replay.h"
#include "harness/workers/interrupt.h"
#include "results_schema/error.h"

namespace bic {
namespace {

struct VerifyFlags {
  VerifyRequest request;
  std::string policy, replay, seed;
  BackendFlags backend;

  void add_to(CLI::App& app) {
    app.add_option("envelope", request.envelope, "NAME.intoto.jsonl or NAME.sigstore.json")
        ->required();
    app.add_option("--policy", policy, "what is accepted (docs/signing.md)")->required();
    app.add_option("--report", request.report, "the report that was signed (beside the envelope)");
    app.add_option("--artifact", request.artifact, "file that must be one of the subjects");
    app.add_option("--proof", request.proof, "one case alone (bi-conform prove)");
    app.add_option("--replay", replay, "run so many of the report's cases again");
    app.add_option("--seed", seed, "which ones: hexadecimal (drawn anew each time)");
    backend.add_to(app);
    backend.add_weights(app);
  }
};

/// What nobody could know when the report was made.
Seed fresh_seed() {
  std::random_device entropy;
  return Seed{std::uint64_t{entropy()} << 32 | entropy()};
}

void show(const signing::Answer& answer) {
  if (answer.certificate) {
    const signing::Certificate& c = *answer.certificate;
    fmt::print("certificate: {} on {} of {} ops by suite {} {} on {}; expires {}\n",
               name(c.level),
               c.ops_covered,
               c.ops_total,
               c.suite,
               c.strength,
               c.device,
               signing::time_text(c.expires));
    for (const signing::ProfileLevel& p : c.profiles) {
      fmt::print("  {} {} {}\n", p.profile, name(p.dtype), name(p.level));
    }
  } else {
    const report::Report& r = answer.report->summary;
    fmt::print("report: {} on {} of {} ops, {}, backend {} on {}\n",
               name(r.verdict.level),
               r.verdict.ops_covered,
               r.verdict.ops_total,
               r.run.strength,
               r.subject.backend,
               r.subject.device);
  }
  fmt::print("signed by {}\n", answer.keyid);
}

/// On what cases are run again: no file is loaded or module imported because a report names it.
std::string replayed_backend(const std::string& typed, const report::Subject& subject) {
  if (!typed.empty()) return typed;
  if (subject.backend.find(':') == std::string::npos) return subject.backend;
  throw UsageError(fmt::format(
      "--replay: the report is of '{}'; name your own copy of it with --backend", subject.backend));
}

void show_replay(const Program& program, VerifyFlags& flags, const report::Report& report) {
  const auto count = whole_number(flags.replay, 1'000'000);
  if (!count) throw UsageError(fmt::format("--replay: '{}' is no number of cases", flags.replay));
  flags.backend.backend = replayed_backend(flags.backend.backend, report.subject);
  if (report.peer) {
    flags.backend.against = replayed_backend(flags.backend.against, *report.peer);
  }
  const Seed seed = flags.seed.empty() ? fresh_seed() : seed_flag(flags.seed);
  const report::ModelWeights there = report.suite.weights.value_or(report::ModelWeights{});
  flags.backend.declare(
      program, same_weights({"the report", there.preset, there.sha256}, flags.backend.weights));
  catch_interrupts();
  const Replayed replayed = replay(report, *count, seed, flags.backend.launch(program));
  fmt::print("replay: {} cases with seed {}: equal inputs and statuses; {}\n",
             replayed.cases,
             to_string(seed),
             replayed.bits.empty() ? "equal bits" : "bits are not comparable: " + replayed.bits);
}

}  // namespace

int verify_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Says whether a policy accepts a signed report or certificate.",
               "bi-conform verify");
  VerifyFlags flags;
  flags.add_to(app);
  parse(app, arguments);
  const signing::Answer answer = verify_files(flags.request, load_policy(flags.policy));
  if (!flags.replay.empty()) {
    if (!answer.whole)
      throw UsageError("--replay: needs a report with its file, and no proof alone");
    show_replay(program, flags, *answer.whole);
  }
  show(answer);
  return 0;
}

}  // namespace bic

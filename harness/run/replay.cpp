#include "harness/run/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "harness/judge/judging.h"
#include "harness/plan/case_check.h"
#include "harness/plan/selection.h"
#include "harness/run/shard_plan.h"
#include "harness/workers/environment.h"
#include "harness/workers/torch_launch.h"
#include "results_schema/signing/profiles.h"
#include "results_schema/signing/refusal.h"

namespace bic {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw signing::Refusal("replay", problem); }

/// Case again, or `unsupported` where the manifest has not got it.
report::CaseResult run_again(Stage& stage, const std::string& case_text) {
  const CaseName name = parse_case_name(case_text);
  check_case(name);
  const std::unique_ptr<Prepared> p = prepare_case(name);
  const std::optional<Promise> promise = promise_of(stage, name.op, name.dtype);
  if (promise) return run_and_judge(stage, *p, *promise).cases.front();
  report::CaseResult result{.case_name = case_text, .status = Status::kUnsupported};
  result.inputs = p->inputs_digest(name.trials.front().sample);
  return result;
}

using Files = std::set<std::pair<std::string, std::string>>;

Files files_of(const report::Subject& subject) {
  Files files;
  for (const report::Library& l : subject.libraries) files.emplace(l.name, l.sha256);
  return files;
}

/// Why the bits of this machine say nothing about those of the report; empty when they do.
std::string incomparable(const report::Report& report, const protocol::Hello& hello) {
  const report::Subject here = describe_subject(hello);
  const std::string device = signing::device_class(here);
  if (device != signing::device_class(report.subject)) {
    return fmt::format("the device is {} there and {} here", report.subject.device, device);
  }
  const std::string isa = describe_environment(hello.default_threads).isa;
  if (isa != report.environment.isa) {
    return fmt::format("the ISA is '{}' there and '{}' here", report.environment.isa, isa);
  }
  return files_of(here) == files_of(report.subject) ? "" : "the backend's libraries differ";
}

void compare(const report::CaseResult& there, const report::CaseResult& here, bool bits) {
  const auto check = [&](const char* what, std::string_view a, std::string_view b) {
    if (a != b) {
      refuse(
          fmt::format("{} is '{}' in the report and '{}' here: {}", what, a, b, there.case_name));
    }
  };
  if (there.inputs.empty()) refuse("the report has no digest of inputs: " + there.case_name);
  check("the digest of the inputs", there.inputs, here.inputs);
  check("the status", name(there.status), name(here.status));
  if (bits) check("the digest of the output", there.digest, here.digest);
}

template <class List>
const auto& one_of(const List& list, Seed seed, const char* what) {
  return list[derive(seed, what).value % list.size()];
}

/// Names of cases of the report, each once.
std::set<std::string> drawn_of_report(const report::Report& report, std::int64_t count, Seed seed) {
  std::set<std::string> names;
  const auto wanted = std::min(report.cases.size(), static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; names.size() < wanted; ++i) {
    names.insert(one_of(report.cases, derive(seed, i), "case").case_name);
  }
  return names;
}

/// Whether the run's plan follows from seed and strength alone.
bool is_whole(const report::Report& r) {
  return !r.run.filtered && r.run.suite.empty() && !r.run.shard && !r.peer &&
         r.suite.declared.empty();
}

Strength strength_of(const report::Run& run) {
  for (const Strength s : {Strength::kQuick, Strength::kStandard}) {
    if (run.strength == name(s)) return s;
  }
  return Strength::kExhaustive;
}

/// Names of cases of the suite's plan: a problem, then one of its cases, so that a twice drawn one
/// is rare and not drawn again.
std::set<std::string> drawn_of_plan(const report::Report& report, std::int64_t count, Seed seed) {
  const report::Run& run = report.run;
  const Selection all = make_selection({.on_device = is_cuda(report.subject.device)});
  const RunPlan plan = plan_run(all, strength_of(run), run.seed, {});
  if (plan.digest != run.plan) {
    refuse("the run's plan is not the suite's of its seed and strength");
  }
  std::set<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) {
    const Seed draw = derive(seed, static_cast<std::uint64_t>(i));
    const ProblemPlan& problem = one_of(one_of(plan.cells, draw, "cell").problems, draw, "problem");
    const auto prepared = prepare(problem, all, run.seed);
    if (!prepared->cases.empty()) names.insert(one_of(prepared->cases, draw, "case").name);
  }
  return names;
}

/// What a report without the case says of it: that it was skipped or unsupported.
void check_left_out(const report::CaseResult& here) {
  if (here.status == Status::kSkipped || here.status == Status::kUnsupported) return;
  refuse(fmt::format("the report has not got a case of its plan, which is '{}' here: {}",
                     name(here.status),
                     here.case_name));
}

}  // namespace

Replayed replay(const report::Report& report,
                std::int64_t count,
                Seed seed,
                const WorkerLaunch& backend) {
  if (report.suite.version != suite_version()) {
    throw UsageError(fmt::format("--replay: the report is of suite version {}; use that, not {}",
                                 report.suite.version,
                                 suite_version()));
  }
  Stage stage(backend);
  Replayed replayed{.cases = 0, .bits = incomparable(report, stage.hello())};
  std::unordered_map<std::string_view, const report::CaseResult*> cases;
  for (const report::CaseResult& result : report.cases) cases.emplace(result.case_name, &result);
  const std::set<std::string> drawn =
      is_whole(report) ? drawn_of_plan(report, count, seed) : drawn_of_report(report, count, seed);
  for (const std::string& case_text : drawn) {
    const report::CaseResult here = run_again(stage, case_text);
    const auto there = cases.find(case_text);
    if (there == cases.end()) {
      check_left_out(here);
    } else {
      compare(*there->second, here, replayed.bits.empty());
    }
    ++replayed.cases;
  }
  if (replayed.cases == 0) refuse("the report has no case");
  return replayed;
}

}  // namespace bic

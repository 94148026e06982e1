#include "harness/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <future>

#include "harness/case_check.h"
#include "harness/console.h"
#include "harness/environment.h"
#include "harness/levels.h"
#include "harness/perf.h"
#include "results_schema/journal.h"

namespace bic {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

/// Prepares problems some way ahead of the worker, in order, on threads of its own.
class Ahead {
 public:
  Ahead(const std::vector<Cell>& cells, const RunOptions& options) : options_(options) {
    for (const Cell& cell : cells) {
      for (const ProblemPlan& plan : cell.problems) plans_.push_back(&plan);
    }
  }

  std::unique_ptr<Prepared> next() {
    constexpr std::size_t kAhead = 3;
    while (pending_.size() < kAhead && started_ < plans_.size()) {
      const ProblemPlan* plan = plans_[started_++];
      pending_.push_back(std::async(std::launch::async, [this, plan] {
        return prepare(*plan, options_.selection, options_.seed);
      }));
    }
    auto first = std::move(pending_.front());
    pending_.pop_front();
    return first.get();
  }

  std::size_t size() const { return plans_.size(); }

 private:
  const RunOptions& options_;
  std::vector<const ProblemPlan*> plans_;
  std::size_t started_ = 0;
  std::deque<std::future<std::unique_ptr<Prepared>>> pending_;
};

/// What the manifest says of an op in a dtype; empty when it does not claim it.
std::optional<Promise> promise_of(const protocol::Hello& hello,
                                  const std::string& op,
                                  DType dtype) {
  for (const protocol::ManifestEntry& e : hello.manifest) {
    if (e.op != op) continue;
    if (std::ranges::find(e.dtypes, dtype) == e.dtypes.end()) return {};
    const auto at = e.arithmetic.find(dtype);
    return Promise{at == e.arithmetic.end() ? Arithmetic{} : at->second, e.own};
  }
  return {};
}

report::JournalWriter open_journal(const RunOptions& options) {
  std::error_code failed;
  std::filesystem::create_directories(options.out, failed);
  if (failed) {
    throw UsageError(
        fmt::format("--out '{}': cannot be made: {}; name a folder that can be written",
                    options.out.string(),
                    failed.message()));
  }
  const auto path = options.out / "journal.jsonl";
  // What an earlier run left must not be taken for this one's.
  for (const auto& old : {path, options.out / "report.json"}) {
    std::filesystem::remove(old, failed);
    if (failed || std::filesystem::exists(old)) {
      throw UsageError(fmt::format(
          "--out: '{}' cannot be replaced; remove it or name another folder", old.string()));
    }
  }
  return report::JournalWriter(path,
                               {.suite_version = suite_version(),
                                .backend = options.backend.backend,
                                .seed = options.seed,
                                .strength = std::string(name(options.strength))});
}

/// The state of a run.
class Runner {
 public:
  explicit Runner(const RunOptions& options)
      : options_(options),
        journal_(open_journal(options)),
        stage_(options.backend),
        console_(stdout, options.typed),
        cells_(make_plan(options.selection, options.strength)),
        ahead_(cells_, options),
        started_(std::chrono::steady_clock::now()) {}

  int run();

 private:
  void describe();
  void run_cell(const Cell& cell);
  void run_problem(const Cell& cell, const Promise* promise, Evidence& evidence);
  std::vector<report::CaseResult> judge_all(Prepared& p,
                                            const Promise* promise,
                                            Evidence& evidence);
  void keep_for_timing(std::unique_ptr<Prepared> p,
                       const std::map<PlannedTrial, TrialResult>& results);
  bool cut();
  void finish();

  const RunOptions& options_;
  report::JournalWriter journal_;
  Stage stage_;
  std::unique_ptr<Stage> stock_;
  Console console_;
  std::vector<Cell> cells_;
  Ahead ahead_;
  std::chrono::steady_clock::time_point started_;
  report::Report report_;
  std::optional<TimedTrial> timed_;
  std::map<PlannedTrial, TrialResult> results_;
  std::size_t done_ = 0;
};

int Runner::run() {
  describe();
  started_ = std::chrono::steady_clock::now();
  console_.header(report_);
  for (const Cell& cell : cells_) {
    if (cut()) break;
    run_cell(cell);
  }
  finish();
  const auto path = options_.out / "report.json";
  report::save_report(report_, path);
  console_.verdict(report_, path.string());
  return report_.verdict.exit_code;
}

void Runner::describe() {
  report_.suite.version = suite_version();
  for (const Relation& r : relations()) report_.suite.relations.emplace_back(r.name);
  report_.subject = describe_subject(stage_.hello());
  report_.environment = describe_environment(stage_.hello().default_threads);
  report_.run = {.seed = options_.seed,
                 .strength = std::string(name(options_.strength)),
                 .command_line = options_.command_line,
                 .started = timestamp(),
                 .duration_ns = 0,
                 .complete = true,
                 .filtered = options_.selection.filtered,
                 .incomplete_reason = ""};
  report_.coverage.planned = static_cast<std::int64_t>(ahead_.size());
}

/// Whether the run ends here, by its budget or by an interrupt.
bool Runner::cut() {
  const bool late =
      options_.budget && std::chrono::steady_clock::now() - started_ > *options_.budget;
  if (!late && !interrupted()) return !report_.run.complete;
  report_.run.complete = false;
  report_.run.incomplete_reason = fmt::format(
      "{} after {} of {} problems", late ? "out of budget" : "interrupted", done_, ahead_.size());
  return true;
}

void Runner::run_cell(const Cell& cell) {
  const std::optional<Promise> promise = promise_of(stage_.hello(), cell.op->name, cell.dtype);
  Evidence evidence(*cell.op, cell.dtype);
  timed_.reset();
  for (std::size_t i = 0; i < cell.problems.size() && !cut(); ++i) {
    run_problem(cell, promise ? &*promise : nullptr, evidence);
  }
  report::OpRow row = evidence.row(options_.selection.target);
  if (!promise) row.why = "not in the backend's manifest";
  if (timed_ && options_.timed && !interrupted()) {
    if (!stock_) stock_ = std::make_unique<Stage>(options_.stock);
    row.throughput = time_against_stock(stage_, *stock_, *timed_);
  }
  console_.row(row);
  report_.ops.push_back(std::move(row));
}

void Runner::run_problem(const Cell& cell, const Promise* promise, Evidence& evidence) {
  console_.progress(done_,
                    ahead_.size(),
                    report_.totals.planned,
                    fmt::format("{} {}", cell.op->name, name(cell.dtype)));
  std::unique_ptr<Prepared> p = ahead_.next();
  ++done_;
  report_.controls.searched += p->telling.searched;
  ++report_.controls.drawn;
  report_.controls.redrawn += p->redraws;
  report_.controls.vacuous += !p->telling.told_apart;
  if (p->cases.empty()) return;
  const std::vector<report::CaseResult> results = judge_all(*p, promise, evidence);
  report_.totals.planned += static_cast<std::int64_t>(p->cases.size());
  evidence.add(*p, results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ++report_.totals.cases[results[i].status];
    journal_.add(results[i]);
    if (is_red(results[i].status)) console_.failure(p->cases[i], p->problem, results[i]);
  }
  report_.cases.insert(report_.cases.end(), results.begin(), results.end());
  ++report_.coverage.executed;
  report_.coverage.counted += !p->problem.accuracy && p->telling.told_apart;
  if (promise != nullptr && !p->problem.accuracy) keep_for_timing(std::move(p), results_);
}

std::vector<report::CaseResult> Runner::judge_all(Prepared& p,
                                                  const Promise* promise,
                                                  Evidence& evidence) {
  std::vector<report::CaseResult> judged;
  if (promise == nullptr) {
    for (const Case& c : p.cases) {
      judged.push_back({.case_name = c.name, .status = Status::kUnsupported});
    }
    return judged;
  }
  results_ = sweep(stage_, p);
  Judge judge(p, *promise, results_, stage_.isolated(), [&](const PlannedTrial& t) {
    return stage_.run(t);
  });
  for (const Case& c : p.cases) judged.push_back(judge.judge(c));
  evidence.note_error(judge.worst_error_ppm());
  note_where_it_starts(p, judged);
  return judged;
}

/// Keeps the problem with the most work for the row's timing.
void Runner::keep_for_timing(std::unique_ptr<Prepared> p,
                             const std::map<PlannedTrial, TrialResult>& results) {
  const auto trial = trial_to_time(*p);
  if (!trial || !results.contains(*trial)) return;
  if (timed_ && timed_->prepared->problem.flops() >= p->problem.flops()) return;
  timed_ = TimedTrial{std::move(p), *trial, results.at(*trial).output};
}

void Runner::finish() {
  report_.run.duration_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::steady_clock::now() - started_)
                                .count();
  report_.coverage.required = report_.coverage.planned;
  report_.verdict = make_verdict(
      report_, options_.selection.target, static_cast<std::int64_t>(registry().size()));
}

}  // namespace

int run_suite(const RunOptions& options) { return Runner(options).run(); }

int reproduce(const WorkerLaunch& launch, const std::string& case_text, const std::string& typed) {
  const CaseName name = parse_case_name(case_text);
  check_case(name);
  std::unique_ptr<Prepared> p = prepare_case(name);
  Stage stage(launch);
  const std::optional<Promise> promise = promise_of(stage.hello(), name.op, name.dtype);
  if (!promise) {
    fmt::print("status: unsupported\n{} in {} is outside the backend's manifest\n",
               name.op,
               bic::name(name.dtype));
    return static_cast<int>(ExitCode::kUnproved);
  }
  const auto results = sweep(stage, *p);
  Judge judge(
      *p, *promise, results, stage.isolated(), [&](const PlannedTrial& t) { return stage.run(t); });
  const report::CaseResult result = judge.judge(p->cases[0]);
  fmt::print("{}\nstatus: {}\ndigest: {}\n",
             failure_text(p->cases[0], p->problem, result, typed, launch.backend),
             bic::name(result.status),
             result.digest);
  if (is_red(result.status)) return static_cast<int>(ExitCode::kDoesNotConform);
  const bool proved = result.status == Status::kPass;
  return static_cast<int>(proved ? ExitCode::kConforms : ExitCode::kUnproved);
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_seen != 0; }

}  // namespace bic

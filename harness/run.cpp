#include "harness/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "harness/case_check.h"
#include "harness/console.h"
#include "harness/control_tally.h"
#include "harness/environment.h"
#include "harness/jobs.h"
#include "harness/levels.h"
#include "harness/out_folder.h"
#include "results_schema/journal.h"

namespace bic {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

report::JournalWriter open_journal(const RunOptions& options) {
  make_out_folder(options.out);
  std::error_code failed;
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
        console_(stdout, options.typed, options.backend.flags),
        cells_(make_plan(options.selection, options.strength)),
        started_(std::chrono::steady_clock::now()),
        jobs_({cells_,
               options.selection,
               options.seed,
               options.backend,
               [this] { return late(); },
               options.shrink},
              options.backend.isolated ? options.jobs : 1) {
    for (const Cell& cell : cells_) problems_ += cell.problems.size();
  }

  int run();

 private:
  void describe();
  void run_op(std::size_t first, std::size_t last);
  std::optional<report::OpRow> run_cell(std::size_t cell);
  void take(const JudgedProblem& judged, Evidence& evidence);
  void keep_for_timing(std::size_t cell, JudgedProblem judged);
  bool late() const;
  void finish();

  const RunOptions& options_;
  report::JournalWriter journal_;
  /// Only timed. A worker that has run larger teams than there are cores is slower ever after.
  std::unique_ptr<Stage> timed_backend_, stock_;
  Console console_;
  std::vector<Cell> cells_;
  std::chrono::steady_clock::time_point started_;
  report::Report report_;
  std::map<std::size_t, TimedTrial> timed_;  ///< by the number of the row
  std::size_t done_ = 0, problems_ = 0;
  Jobs jobs_;  ///< last: its threads end before what they use
};

int Runner::run() {
  describe();
  started_ = std::chrono::steady_clock::now();
  console_.header(report_);
  jobs_.start();
  // When the run is cut, what the jobs had judged by then is still taken.
  for (std::size_t first = 0, last = 0; first < cells_.size(); first = last) {
    while (last < cells_.size() && cells_[last].op == cells_[first].op) ++last;
    run_op(first, last);
  }
  finish();
  const auto path = options_.out / "report.json";
  report::save_report(report_, path);
  console_.verdict(report_, path.string());
  return report_.verdict.exit_code;
}

void Runner::describe() {
  report_.suite.version = suite_version();
  report_.suite.kill_matrix_sha256 = kill_matrix_sha256();
  report_.suite.detection = options_.detection;
  for (const Relation& r : relations()) report_.suite.relations.emplace_back(r.name);
  report_.subject = describe_subject(jobs_.hello());
  report_.environment = describe_environment(jobs_.hello().default_threads);
  report_.run = {.seed = options_.seed,
                 .strength = std::string(name(options_.strength)),
                 .command_line = options_.command_line,
                 .started = timestamp(),
                 .duration_ns = 0,
                 .complete = true,
                 .filtered = options_.selection.filtered,
                 .incomplete_reason = "",
                 .suite = options_.selection.suite};
  report_.coverage.planned = static_cast<std::int64_t>(problems_);
}

/// Whether the run is to end, by its budget or by an interrupt. Safe from any thread.
bool Runner::late() const {
  return interrupted() ||
         (options_.budget && std::chrono::steady_clock::now() - started_ > *options_.budget);
}

/// All dtypes of an op; they are timed together, while no other problem is run.
void Runner::run_op(std::size_t first, std::size_t last) {
  std::map<std::size_t, report::OpRow> rows;
  for (std::size_t cell = first; cell < last; ++cell) {
    if (auto row = run_cell(cell)) rows.emplace(cell, std::move(*row));
  }
  if (options_.timed && !timed_.empty() && !interrupted()) {
    if (!stock_) stock_ = std::make_unique<Stage>(options_.stock);
    if (!timed_backend_) timed_backend_ = std::make_unique<Stage>(options_.backend);
    jobs_.in_quiet([&] {
      for (const auto& [cell, timed] : timed_) {
        rows.at(cell).throughput = time_against_stock(*timed_backend_, *stock_, timed);
      }
    });
  }
  timed_.clear();
  for (auto& [cell, row] : rows) {
    console_.row(row);
    report_.ops.push_back(std::move(row));
  }
}

/// The row of a cell; empty when none of its problems was judged.
std::optional<report::OpRow> Runner::run_cell(std::size_t number) {
  const Cell& cell = cells_[number];
  Evidence evidence(cell);
  const auto show = [&] {
    console_.progress(done_,
                      problems_,
                      report_.totals.planned,
                      fmt::format("{} {}", cell.op->name, name(cell.dtype)));
  };
  show();
  const std::size_t before = done_;
  while (auto judged = jobs_.next(number)) {
    ++done_;
    take(*judged, evidence);
    keep_for_timing(number, std::move(*judged));
    show();
  }
  if (done_ == before) return {};
  report::OpRow row = evidence.row(options_.selection.target);
  if (!promise_of(jobs_.hello(), cell.op->name, cell.dtype)) {
    row.why = "not in the backend's manifest";
  }
  return row;
}

void Runner::take(const JudgedProblem& judged, Evidence& evidence) {
  const Prepared& p = *judged.prepared;
  add_draws(report_.controls, p);
  if (p.cases.empty()) return;
  report_.totals.planned += static_cast<std::int64_t>(p.cases.size());
  evidence.add(p, judged.cases);
  evidence.note_error(judged.worst_error_ppm);
  for (std::size_t i = 0; i < judged.cases.size(); ++i) {
    const report::CaseResult& result = judged.cases[i];
    ++report_.totals.cases[result.status];
    journal_.add(result);
  }
  for (const report::Failure& failure : judged.failures) {
    console_.failure(failure);
    report_.failures.push_back(failure);
  }
  report_.cases.insert(report_.cases.end(), judged.cases.begin(), judged.cases.end());
  ++report_.coverage.executed;
  report_.coverage.counted += !p.problem.accuracy && p.telling.told_apart;
}

/// Keeps the problem with the most work for the row's timing.
void Runner::keep_for_timing(std::size_t cell, JudgedProblem judged) {
  if (!judged.timed) return;
  const auto at = timed_.find(cell);
  const auto flops = judged.prepared->problem.flops();
  if (at != timed_.end() && at->second.prepared->problem.flops() >= flops) return;
  timed_.insert_or_assign(
      cell, TimedTrial{std::move(judged.prepared), *judged.timed, std::move(judged.output)});
}

void Runner::finish() {
  if (done_ < problems_) {
    report_.run.complete = false;
    report_.run.incomplete_reason = fmt::format("{} after {} of {} problems",
                                                interrupted() ? "interrupted" : "out of budget",
                                                done_,
                                                problems_);
  }
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
  const report::CaseResult result = run_and_judge(stage, *p, *promise).cases.front();
  fmt::print("{}\nstatus: {}\ndigest: {}\n",
             failure_text(result, typed, launch.backend + launch.flags),
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

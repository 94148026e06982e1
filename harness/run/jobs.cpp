#include "harness/run/jobs.h"

#include "harness/judge/control_tally.h"
#include "harness/plan/ahead.h"
#include "harness/run/perf.h"
#include "harness/workers/interrupt.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

/// Notes the output of the trial worth timing where the problem has more work than
/// `most_work`, which is then its own.
void record_timed(const std::map<PlannedTrial, TrialResult>& trials,
                  JudgedProblem& judged,
                  std::int64_t& most_work) {
  const Problem& problem = judged.prepared->problem;
  if (problem.accuracy || problem.flops() <= most_work) return;
  const auto trial = trial_to_time(*judged.prepared);
  const auto at = trial ? trials.find(*trial) : trials.end();
  if (at == trials.end()) return;
  most_work = problem.flops();
  judged.timed = *trial;
  const std::vector<std::byte>& output = at->second.output;
  judged.record.timed = {sha256_hex(output), static_cast<std::int64_t>(output.size())};
}

}  // namespace

Jobs::Jobs(Work work, int jobs) : work_(std::move(work)), queues_(work_.cells.size()) {
  stages_.resize(static_cast<std::size_t>(jobs));
  stages_[0] = std::make_unique<Stage>(work_.backend);
}

Jobs::~Jobs() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Jobs::start() {
  for (std::size_t job = 0; job < stages_.size(); ++job) {
    threads_.emplace_back([this, job] { run(job); });
  }
}

void Jobs::run(std::size_t job) {
  try {
    Shrinker shrinker(work_.backend);
    for (std::size_t cell = job; cell < queues_.size(); cell += stages_.size()) {
      try {
        run_cell(job, shrinker, cell);
      } catch (const Interrupted&) {
        // The problem that was being judged has no verdict; those before it keep theirs.
      }
      const std::lock_guard lock(mutex_);
      queues_[cell].closed = true;
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    changed_.notify_all();
  }
}

void Jobs::run_cell(std::size_t job, Shrinker& shrinker, std::size_t cell) {
  const Cell& c = work_.cells[cell];
  CellState state{.failures = Failures(work_.shrink ? &shrinker : nullptr, work_.stopped)};
  const std::size_t known = recall_cell(cell, state);
  if (known == c.problems.size() || work_.stopped()) return;
  if (stages_[job] == nullptr) stages_[job] = std::make_unique<Stage>(work_.backend);
  Stage& stage = *stages_[job];
  const auto promise = promise_of(stage, c.op->name, c.dtype);
  if (!promise) return pass_over(cell, known);
  const std::vector<ProblemPlan> left(c.problems.begin() + static_cast<std::ptrdiff_t>(known),
                                      c.problems.end());
  Ahead ahead(left, work_.selection, work_.seed);
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    const Busy busy(*this);
    if (abandoned() || work_.stopped()) return;
    auto judged = judge(stage, ahead.next(), *promise, state);
    // A failure that a cut left as it was found is looked at again when the run goes on.
    const bool keep = !state.failures.cut();
    if (deliver(cell, known + i, std::move(judged), keep)) ahead.settle();
  }
}

/// A cell outside the manifest: its cases are unsupported, and nothing is made for them.
void Jobs::pass_over(std::size_t cell, std::size_t known) {
  const Cell& c = work_.cells[cell];
  for (std::size_t i = known; i < c.problems.size(); ++i) {
    if (abandoned() || work_.stopped()) return;
    auto judged = std::make_unique<JudgedProblem>();
    judged->prepared = outline(c.problems[i], work_.selection, work_.seed);
    for (const Case& unclaimed : judged->prepared->cases) {
      judged->record.cases.push_back({.case_name = unclaimed.name, .status = Status::kUnsupported});
    }
    deliver(cell, i, std::move(judged), true);
  }
}

/// Notes which problem it is, keeps it in the journal where asked, and gives it. True when somebody
/// waits for quiet.
bool Jobs::deliver(std::size_t cell,
                   std::size_t number,
                   std::unique_ptr<JudgedProblem> judged,
                   bool keep) {
  judged->record.op = work_.cells[cell].op->name;
  judged->record.dtype = work_.cells[cell].dtype;
  judged->record.number = static_cast<std::int64_t>(number);
  if (keep) work_.journal.keep(judged->record);
  return give(cell, std::move(judged));
}

/// Gives what the journal holds of a cell: its first problems. Returns their number.
std::size_t Jobs::recall_cell(std::size_t cell, CellState& state) {
  const Cell& c = work_.cells[cell];
  std::size_t known = 0;
  for (; known < c.problems.size(); ++known) {
    auto record = work_.journal.take(c.op->name, c.dtype, known);
    if (!record) break;
    auto judged = recall(std::move(*record));
    state.failures.recall(*judged->prepared, judged->record.cases, judged->record.failures);
    if (judged->record.timed) state.most_work = judged->prepared->problem.flops();
    give(cell, std::move(judged));
  }
  return known;
}

/// Runs the problem and judges it.
std::unique_ptr<JudgedProblem> Jobs::judge(Stage& stage,
                                           std::unique_ptr<Prepared> p,
                                           const Promise& promise,
                                           CellState& state) {
  auto judged = std::make_unique<JudgedProblem>();
  judged->prepared = std::move(p);
  Prepared& prepared = *judged->prepared;
  report::ProblemRecord& record = judged->record;
  add_draws(record.controls, prepared);
  if (prepared.cases.empty()) return judged;
  Judged outcome = run_and_judge(stage, prepared, promise);
  note_where_it_starts(prepared, outcome.cases);
  record.cases = std::move(outcome.cases);
  record.worst_error_ppm = outcome.worst_error_ppm;
  record.killed_workers = outcome.killed_workers;
  record.failures = state.failures.of(prepared, record.cases, promise);
  record_timed(outcome.results, *judged, state.most_work);
  return judged;
}

/// True when somebody waits for quiet.
bool Jobs::give(std::size_t cell, std::unique_ptr<JudgedProblem> judged) {
  const std::lock_guard lock(mutex_);
  queues_[cell].problems.push_back(std::move(judged));
  changed_.notify_all();
  return quiet_;
}

bool Jobs::abandoned() {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

std::unique_ptr<JudgedProblem> Jobs::next(std::size_t cell) {
  std::unique_lock lock(mutex_);
  Queue& queue = queues_[cell];
  changed_.wait(lock, [&] { return !queue.problems.empty() || queue.closed || failure_; });
  if (queue.problems.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    return nullptr;
  }
  auto first = std::move(queue.problems.front());
  queue.problems.pop_front();
  return first;
}

void Jobs::in_quiet(const std::function<void()>& use) {
  std::unique_lock lock(mutex_);
  quiet_ = true;
  changed_.wait(lock, [&] { return busy_ == 0; });
  lock.unlock();
  use();
  lock.lock();
  quiet_ = false;
  changed_.notify_all();
}

Jobs::Busy::Busy(Jobs& jobs) : jobs_(jobs) {
  std::unique_lock lock(jobs_.mutex_);
  jobs_.changed_.wait(lock, [&] { return !jobs_.quiet_ || jobs_.abandoned_; });
  ++jobs_.busy_;
}

Jobs::Busy::~Busy() {
  const std::lock_guard lock(jobs_.mutex_);
  --jobs_.busy_;
  jobs_.changed_.notify_all();
}

}  // namespace bic

#include "harness/jobs.h"

#include "harness/ahead.h"

namespace bic {
namespace {

std::unique_ptr<JudgedProblem> unsupported(std::unique_ptr<Prepared> p) {
  auto judged = std::make_unique<JudgedProblem>();
  for (const Case& c : p->cases) {
    judged->cases.push_back({.case_name = c.name, .status = Status::kUnsupported});
  }
  judged->prepared = std::move(p);
  return judged;
}

std::unique_ptr<JudgedProblem> judge(Stage& stage,
                                     std::unique_ptr<Prepared> p,
                                     const Promise& promise,
                                     Failures& failures) {
  auto [trials, cases, worst_error_ppm] = run_and_judge(stage, *p, promise);
  note_where_it_starts(*p, cases);
  auto judged = std::make_unique<JudgedProblem>();
  const auto trial = p->problem.accuracy ? std::nullopt : trial_to_time(*p);
  if (trial && trials.contains(*trial)) {
    judged->timed = *trial;
    judged->output = std::move(trials.at(*trial).output);
  }
  judged->failures = failures.of(*p, cases, promise);
  judged->cases = std::move(cases);
  judged->worst_error_ppm = worst_error_ppm;
  judged->prepared = std::move(p);
  return judged;
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
    if (stages_[job] == nullptr) stages_[job] = std::make_unique<Stage>(work_.backend);
    Shrinker shrinker(work_.backend);
    for (std::size_t cell = job; cell < queues_.size(); cell += stages_.size()) {
      run_cell(*stages_[job], shrinker, cell);
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

void Jobs::run_cell(Stage& stage, Shrinker& shrinker, std::size_t cell) {
  const Cell& c = work_.cells[cell];
  const auto promise = promise_of(stage.hello(), c.op->name, c.dtype);
  Failures failures(work_.shrink ? &shrinker : nullptr, work_.stopped);
  Ahead ahead(c.problems, work_.selection, work_.seed);
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    const Busy busy(*this);
    if (abandoned() || work_.stopped()) return;
    std::unique_ptr<Prepared> p = ahead.next();
    const bool runs = promise && !p->cases.empty();
    auto judged = runs ? judge(stage, std::move(p), *promise, failures) : unsupported(std::move(p));
    if (give(cell, std::move(judged))) ahead.settle();
  }
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

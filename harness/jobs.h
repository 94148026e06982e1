#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/judging.h"
#include "harness/perf.h"
#include "harness/shrink.h"

namespace bic {

/// A problem, run and judged.
struct JudgedProblem {
  std::unique_ptr<Prepared> prepared;
  std::vector<report::CaseResult> cases;
  std::optional<std::int64_t> worst_error_ppm;
  std::optional<PlannedTrial> timed;      ///< the trial worth timing, if there is one,
  std::vector<std::byte> output;          ///< and its output
  std::vector<report::Failure> failures;  ///< those that no earlier problem of the cell had
};

/// Several workers that run the cells of a plan at once: cell i belongs to worker i modulo their
/// number, so that what a worker saw before depends on nothing but that number.
class Jobs {
 public:
  struct Work {
    const std::vector<Cell>& cells;
    const Selection& selection;
    Seed seed;
    WorkerLaunch backend;
    std::function<bool()> stopped;  ///< asked between problems, from any thread
    bool shrink = true;             ///< make failures smaller
  };

  /// Starts the first worker. All that `work` refers to must outlive the jobs.
  Jobs(Work work, int jobs);
  ~Jobs();

  const protocol::Hello& hello() const { return stages_[0]->hello(); }

  /// Starts the others and lets all of them run.
  void start();

  /// The next problem of a cell; null after its last one, or when the run was stopped before it.
  /// Throws what ended the job that runs it.
  std::unique_ptr<JudgedProblem> next(std::size_t cell);

  /// Calls `use` while no problem is run or prepared.
  void in_quiet(const std::function<void()>& use);

 private:
  struct Queue {
    std::deque<std::unique_ptr<JudgedProblem>> problems;
    bool closed = false;
  };

  /// While one lives, a problem is being worked on; waits for a quiet time to end.
  class Busy {
   public:
    explicit Busy(Jobs& jobs);
    ~Busy();

   private:
    Jobs& jobs_;
  };

  void run(std::size_t job);
  void run_cell(Stage& stage, Shrinker& shrinker, std::size_t cell);
  bool give(std::size_t cell, std::unique_ptr<JudgedProblem> judged);
  bool abandoned();

  Work work_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Queue> queues_;
  std::exception_ptr failure_;
  int busy_ = 0;
  bool quiet_ = false, abandoned_ = false;
};

}  // namespace bic

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/judge/judged_problem.h"
#include "harness/judge/judging.h"
#include "harness/run/resume.h"
#include "harness/shrink/shrink.h"

namespace bic {

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
    RunJournal& journal;            ///< begun before the jobs start; keeps each judged problem
  };

  /// Starts the first worker. All that `work` refers to must outlive the jobs.
  Jobs(Work work, int jobs);
  ~Jobs();

  const protocol::Hello& hello() const { return stages_[0]->hello(); }

  /// The peer's; null without one.
  const protocol::Hello* peer_hello() { return stages_[0]->peer_hello(); }

  /// Starts the others and lets all of them run.
  void start();

  /// The next problem of a cell; null after its last one, or when the run was stopped before it.
  /// Those that the journal holds come first, even of a run that is stopped.
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

  /// What the problems of a cell leave to the next ones.
  struct CellState {
    Failures failures;
    std::int64_t most_work = -1;  ///< of those worth timing
  };

  void run(std::size_t job);
  void run_cell(std::size_t job, Shrinker& shrinker, std::size_t cell);
  std::size_t recall_cell(std::size_t cell, CellState& state);
  void pass_over(std::size_t cell, std::size_t known);
  bool deliver(std::size_t cell,
               std::size_t number,
               std::unique_ptr<JudgedProblem> judged,
               bool keep);
  std::unique_ptr<JudgedProblem> judge(Stage& stage,
                                       std::unique_ptr<Prepared> p,
                                       const Promise& promise,
                                       CellState& state);
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

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "harness/plan/prepare.h"
#include "harness/workers/worker.h"

namespace bic {

/// What one trial gave.
struct TrialResult {
  std::optional<Death> death;  ///< the worker died in it
  bool blocked = false;        ///< not run: the worker had died too often in this problem
  protocol::TrialReply reply;
  std::vector<std::byte> output;  ///< row-major
};

/// How calls of a trial are timed, as the protocol's `time` has it.
struct Timing {
  int calls = 1, copies = 1;
  bool copies_common = false;
};

/// The team that a trial asks for: 0 for the worker's default, `over` is twice the cores.
int threads_asked(const Trial& trial);

/// The workers of a run: the one that is judged, a second one that replays a few trials, and one of
/// the peer where the launch has one. All but the first are started when they are first needed.
class Stage {
 public:
  explicit Stage(WorkerLaunch launch);

  const protocol::Hello& hello() const { return hello_; }
  /// The peer's; null without one. Throws UsageError when it cannot be started.
  const protocol::Hello* peer_hello();
  bool isolated() const { return launch_.isolated; }

  /// Makes `prepared` the problem of the following trials.
  void set(const Prepared& prepared);

  /// Runs one trial of it. A worker that dies is started again for the next trial; after three
  /// deaths in one problem its other trials are blocked.
  TrialResult run(const PlannedTrial& trial);

  /// The trials in which something else killed a worker, since this was last asked.
  std::vector<PlannedTrial> take_killed() { return std::exchange(killed_, {}); }

  /// Ends all workers; new ones are started when they are needed.
  void renew();

  /// Times calls of one trial on the first worker; its output is that of the last call.
  std::variant<protocol::TimeReply, Death> time(const PlannedTrial& trial, const Timing& timing);
  std::span<const std::byte> output() const { return seats_[0].worker->output(); }

 private:
  struct Seat {
    std::unique_ptr<Worker> worker;
    bool loaded = false;
    int deaths = 0;
  };

  void be_patient();
  const WorkerLaunch& launch_of(const Seat& seat) const;
  std::optional<Death> ready(Seat& seat);
  protocol::TrialMessage request(const PlannedTrial& trial) const;

  WorkerLaunch launch_;
  protocol::Hello hello_;
  std::optional<protocol::Hello> peer_hello_;
  const Prepared* prepared_ = nullptr;
  std::vector<PlannedTrial> killed_;
  Seat seats_[kPeerWorker + 1];  ///< by the number in the trial
};

/// The trials of a problem in the order of its sweep: the first sight of the sample, all others in
/// seeded order, the sample alone once more, then the other thread counts. In every other problem
/// the first sight is inside the largest batch.
std::vector<PlannedTrial> sweep_order(const Prepared& prepared);

/// Runs them all; those of the peer only `with_peer`.
std::map<PlannedTrial, TrialResult> sweep(Stage& stage,
                                          const Prepared& prepared,
                                          bool with_peer = true);

/// Runs `pass`, which runs trials of one problem. A worker that something else kills (SIGKILL, no
/// time-out, no lack of memory) says nothing of the kernel: then the whole pass is run again, in
/// new workers. The third such death in one trial is the kernel's doing, as far as anyone can tell,
/// and stays. Returns the number of deaths that do not count.
std::int64_t run_undisturbed(Stage& stage, const std::function<void()>& pass);

}  // namespace bic

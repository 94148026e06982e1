#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "adapters/protocol/channel.h"
#include "adapters/protocol/messages.h"
#include "adapters/protocol/shared_memory.h"
#include "harness/workers/group_memory.h"
#include "harness/workers/oom_kills.h"
#include "results_schema/error.h"

namespace bic {

/// Where a backend lives and how it is run.
struct WorkerLaunch {
  std::filesystem::path library;  ///< shared object that exports bic_worker_main
  std::string backend;            ///< name given to it
  bool isolated = true;           ///< in a child process; else in a thread of this one
  std::chrono::milliseconds timeout{30'000};
  std::filesystem::path program = "/proc/self/exe";  ///< the child
  /// Its arguments, its own name first; none: the verb `worker` with library and backend. A program
  /// with arguments of its own is always a child.
  std::vector<std::string> arguments;
  std::string flags;        ///< what a person types after the backend's name to get this one
  std::int64_t memory = 0;  ///< most bytes that its processes may hold together; 0: no limit
  std::shared_ptr<const WorkerLaunch> peer;  ///< the backend of --against; null: none
  std::string problem;  ///< of a backend that nobody may ever start; a Worker throws it
};

/// How a worker died: a status (crash or timeout), its reason and one line for people.
struct Death {
  Status status = Status::kCrash;
  std::optional<Reason> reason;
  std::string message;
  bool killed_by_others = false;  ///< by SIGKILL, neither ours nor for want of memory
};

/// A worker was killed by something else before it had answered.
struct KilledAtStart : UsageError {
  using UsageError::UsageError;
};

/// The parent's end of one worker. Requests are answered in order; a dead worker stays dead. While
/// it is waited for, its memory is watched, and an interrupt kills it and throws Interrupted.
class Worker {
 public:
  /// Starts it and asks for its manifest. Throws UsageError when it cannot be started.
  explicit Worker(WorkerLaunch launch);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const protocol::Hello& hello() const { return hello_; }

  /// Sends a problem and its memory. An error of the backend is a HarnessError.
  std::optional<Death> load(const protocol::ProblemMessage& problem,
                            const protocol::SharedMemory& pool);

  /// The output of the last run or time, row-major.
  std::span<const std::byte> output() const { return output_.bytes(); }

  std::variant<protocol::TrialReply, Death> run(const protocol::TrialMessage& trial);
  std::variant<protocol::TimeReply, Death> time(const protocol::TimeMessage& request);

  /// Asks for a study that `hello` lists: its answer. What is large lies in `room`. Throws
  /// UsageError with what the worker says when it cannot make the study.
  std::variant<nlohmann::json, Death> study(const std::string& name,
                                            const nlohmann::json& request,
                                            const protocol::SharedMemory& room);

 private:
  void start_child(protocol::Descriptor socket);
  void start_thread(protocol::Descriptor socket);
  std::variant<nlohmann::json, Death> ask(const char* verb,
                                          nlohmann::json body,
                                          const std::vector<int>& descriptors = {});
  bool is_unwanted();
  bool is_waited_for_in_vain();
  Death bury(protocol::Received how);
  void blame(Death& death) const;
  Death end_early();
  Death disown(const std::string& why);
  template <class Reply>
  std::variant<Reply, Death> ask_for(const char* verb, nlohmann::json body);
  std::string last_words() const;

  WorkerLaunch launch_;
  protocol::Descriptor socket_;
  protocol::Descriptor words_;  ///< the child's stdout and stderr, in memory
  protocol::SharedMemory output_;
  protocol::Hello hello_;
  pid_t child_ = -1;
  std::int64_t oom_kills_ = oom_kills();  ///< before it was started
  bool ended_ = false;                    ///< the child's end was seen while it was waited for
  MemoryWatch memory_;
  std::optional<std::int64_t> excess_;  ///< bytes that it held when they were found too many
  std::jthread thread_;                 ///< joined too when the constructor throws
};

/// Type of bic_worker_main. `largest_team(reset)` gives the threads of the largest parallel region
/// asked for since the last reset, and starts again when `reset` is not 0; it may be null.
using WorkerMain = int (*)(int socket, const char* backend, unsigned (*largest_team)(int reset));

/// Loads the library and calls its entry. Returns the worker's exit code; 2 with one line on stderr
/// when the library cannot be loaded.
int worker_main(const std::filesystem::path& library, const std::string& backend, int socket);

}  // namespace bic

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace bic {

/// A worker process to be.
struct ChildPlan {
  std::filesystem::path program;
  std::vector<std::string> arguments;  ///< its own name first
  int socket = -1;                     ///< becomes descriptor 3; all others are closed
  int output = -1;                     ///< becomes stdout and stderr
};

/// How a process ended.
struct ChildEnd {
  int signal = 0;                 ///< that ended it; 0: it exited
  bool killed_by_others = false;  ///< by SIGKILL, which this process had not sent
  std::string text;  ///< "killed by signal 11 (Segmentation fault)" or "exited with code 2"
};

/// Starts the process in a group of its own, with an explicit environment, killed when this one
/// dies. Throws HarnessError when the system refuses.
pid_t spawn_worker(const ChildPlan& plan);

/// Whether it has ended. Until it is reaped or killed, nothing else can get the number of its
/// group.
bool has_ended(pid_t child);

/// Waits for its end, then kills what is left of its group: its own children do not outlive it.
ChildEnd reap_child(pid_t child, std::chrono::milliseconds patience);

/// Kills its whole group at once. How it ended by itself is kept where it already had.
ChildEnd kill_child(pid_t child);

/// Environment variables of this process that are handed to workers: locale, paths and whatever can
/// change how a numerical library computes.
std::vector<std::string> worker_environment();

}  // namespace bic

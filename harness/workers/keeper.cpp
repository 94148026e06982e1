#include "harness/workers/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "results_schema/error.h"

namespace bic {
namespace {

constexpr int kNews = 3;            // descriptor from which the keeper reads
constexpr std::size_t kMost = 512;  // groups at a time; each job has at most a handful

/// The keeper's whole life, between fork and exit: async-signal-safe calls only. It reads numbers
/// of groups: to keep, or negative to forget. The end of the socket is the end of its parent.
[[noreturn]] void keep(int news) {
  setsid();  // no terminal's Ctrl-C reaches it, nor a kill of its parent's group
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) signal(s, SIG_IGN);
  prctl(PR_SET_NAME, "bic-keeper");
  dup2(news, kNews);
  for (const int given : {0, 1, 2}) close(given);
  close_range(kNews + 1, ~0U, 0);
  pid_t kept[kMost] = {};
  pid_t group = 0;
  while (read(kNews, &group, sizeof group) == sizeof group) {
    pid_t* const at = std::find(kept, kept + kMost, group > 0 ? 0 : -group);
    if (at != kept + kMost) *at = std::max(group, 0);
  }
  for (const pid_t left : kept) {
    if (left > 0) kill(-left, SIGKILL);
  }
  _exit(0);
}

/// This process's end of the socket. It is never closed: the keeper waits for that.
int start_keeper() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw HarnessError(std::string("cannot make a socket pair: ") + std::strerror(errno));
  }
  const pid_t keeper = fork();
  if (keeper < 0) throw HarnessError(std::string("cannot start a process: ") + strerror(errno));
  if (keeper == 0) keep(ends[1]);
  close(ends[1]);
  return ends[0];
}

void tell(pid_t news) {
  static const int keeper = start_keeper();
  // One that somebody killed keeps nothing; the run goes on.
  send(keeper, &news, sizeof news, MSG_NOSIGNAL);
}

}  // namespace

void keep_group(pid_t group) { tell(group); }
void forget_group(pid_t group) { tell(-group); }

}  // namespace bic

#include "harness/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "results_schema/error.h"

extern char** environ;

namespace bic {
namespace {

constexpr int kSocket = 3;

bool is_handed_on(std::string_view variable) {
  constexpr std::string_view kNames[] = {
      "PATH=",  "HOME=",  "LANG=",        "LC_",    "TMPDIR=",   "LD_LIBRARY_PATH=",
      "CUDA_",  "OMP_",   "GOMP_",        "MKL_",   "KMP_",      "MALLOC_",
      "ATEN_",  "TORCH_", "ONEDNN_",      "DNNL_",  "OPENBLAS_", "NPY_",
      "PYTHON", "PYENV_", "VIRTUAL_ENV=", "CONDA_", "ASAN_",     "UBSAN_"};
  for (std::string_view name : kNames) {
    if (variable.starts_with(name)) return true;
  }
  return false;
}

// Teams as large as asked for, and no spinning, which on few cores would slow everything else.
// Large blocks stay with the allocator: a fresh mapping for each would cost a quarter of a run in
// faults.
constexpr const char* kDefaults[] = {"OMP_DYNAMIC=false",
                                     "MKL_DYNAMIC=false",
                                     "OMP_WAIT_POLICY=passive",
                                     "MALLOC_MMAP_THRESHOLD_=33554432",
                                     "MALLOC_TRIM_THRESHOLD_=1073741824"};

/// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become_worker(const ChildPlan& plan,
                                char* const* arguments,
                                char* const* environment) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_IGN);
  // Out of the way first: one of the two may sit on a number that the other is to have.
  const int socket = fcntl(plan.socket, F_DUPFD, 10);
  const int output = fcntl(plan.output, F_DUPFD, 10);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(output, 1);
  dup2(output, 2);
  dup2(socket, kSocket);
  close_range(kSocket + 1, ~0U, 0);
  execve(plan.program.c_str(), arguments, environment);
  _exit(127);
}

ChildEnd describe(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return {true, "killed by signal " + std::to_string(number) + " (" + strsignal(number) + ")"};
  }
  return {false, "exited with code " + std::to_string(WEXITSTATUS(status))};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& t : texts) all.push_back(t.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::vector<std::string> worker_environment() {
  std::vector<std::string> all;
  for (char** v = environ; *v != nullptr; ++v) {
    if (is_handed_on(*v)) all.emplace_back(*v);
  }
  for (const char* fallback : kDefaults) {
    const std::string_view text = fallback;
    const std::string name(text.substr(0, text.find('=')));
    if (getenv(name.c_str()) == nullptr) all.emplace_back(text);
  }
  return all;
}

pid_t spawn_worker(const ChildPlan& plan) {
  std::vector<std::string> arguments = plan.arguments;
  std::vector<std::string> environment = worker_environment();
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const pid_t child = fork();
  if (child < 0) throw HarnessError(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become_worker(plan, argv.data(), envp.data());
  setpgid(child, child);
  return child;
}

ChildEnd reap_child(pid_t child, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (std::chrono::steady_clock::now() < deadline) {
    if (waitpid(child, &status, WNOHANG) == child) return describe(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return kill_child(child);
}

ChildEnd kill_child(pid_t child) {
  kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return describe(status);
}

}  // namespace bic

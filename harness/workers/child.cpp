#include "harness/workers/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "harness/workers/keeper.h"
#include "results_schema/error.h"

extern char** environ;

namespace bic {
namespace {

constexpr int kSocket = 3;

bool is_handed_on(std::string_view variable) {
  // NV_ and LD_PRELOAD: by these NVIDIA's tools, as compute-sanitizer, follow into a child process.
  constexpr std::string_view kNames[] = {
      "PATH=",  "HOME=",  "LANG=",        "LC_",     "TMPDIR=",    "LD_LIBRARY_PATH=",
      "CUDA_",  "OMP_",   "GOMP_",        "MKL_",    "KMP_",       "MALLOC_",
      "ATEN_",  "TORCH_", "ONEDNN_",      "DNNL_",   "OPENBLAS_",  "NPY_",
      "PYTHON", "PYENV_", "VIRTUAL_ENV=", "CONDA_",  "ASAN_",      "UBSAN_",
      "LSAN_",  "TSAN_",  "CUBLAS_",      "NVIDIA_", "PYTORCH_",   "TRITON_",
      "JAX_",   "XLA_",   "BLIS_",        "NV_",     "LD_PRELOAD="};
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
    return {.signal = number,
            .text = "killed by signal " + std::to_string(number) + " (" + strsignal(number) + ")"};
  }
  return {.text = "exited with code " + std::to_string(WEXITSTATUS(status))};
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
  keep_group(child);
  return child;
}

bool has_ended(pid_t child) {
  siginfo_t end{};
  const int flags = WEXITED | WNOHANG | WNOWAIT;
  return waitid(P_PID, static_cast<id_t>(child), &end, flags) == 0 && end.si_pid == child;
}

ChildEnd reap_child(pid_t child, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!has_ended(child) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const bool by_itself = has_ended(child);
  ChildEnd end = kill_child(child);
  end.killed_by_others = by_itself && end.signal == SIGKILL;
  return end;
}

ChildEnd kill_child(pid_t child) {
  kill(-child, SIGKILL);
  forget_group(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return describe(status);
}

}  // namespace bic

#include "harness/workers/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "adapters/protocol/channel.h"
#include "harness/workers/group_memory.h"

namespace bic {
namespace {

using protocol::Descriptor;
constexpr std::chrono::seconds kPatience{20};  // for what takes milliseconds

/// Whether the process runs; one that nobody has reaped yet does not.
bool is_running(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

bool becomes_true(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!holds() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return holds();
}

/// A shell whose first line of output is a number.
struct Shell {
  explicit Shell(const std::string& script)
      : output(memfd_create("output", MFD_CLOEXEC)),
        socket(memfd_create("socket", MFD_CLOEXEC)),
        child(spawn_worker({.program = "/bin/sh",
                            .arguments = {"sh", "-c", script},
                            .socket = socket.get(),
                            .output = output.get()})) {}

  pid_t number() const {
    char text[32] = {};
    becomes_true([&] { return pread(output.get(), text, sizeof text - 1, 0) > 0; });
    return static_cast<pid_t>(std::atoi(text));
  }

  Descriptor output, socket;
  pid_t child;
};

TEST(Child, ThatEndsByItselfLeavesNothingBehind) {
  const Shell shell("sleep 1000 & echo $!; exit 3");
  const pid_t left_behind = shell.number();
  ASSERT_GT(left_behind, 0);
  EXPECT_TRUE(is_running(left_behind)) << "or there is nothing to see";
  EXPECT_EQ(reap_child(shell.child, kPatience).text, "exited with code 3");
  EXPECT_TRUE(becomes_true([&] { return !is_running(left_behind); }));
}

TEST(Child, ThatIsKilledTakesItsChildrenWithIt) {
  const Shell shell("sleep 1000 & echo $!; wait");
  const pid_t grandchild = shell.number();
  ASSERT_GT(grandchild, 0);
  EXPECT_EQ(kill_child(shell.child).signal, SIGKILL);
  EXPECT_TRUE(becomes_true([&] { return !is_running(grandchild); }));
}

TEST(Child, IsSeenToHaveEndedBeforeItIsReaped) {
  const Shell shell("echo 1; exit 0");
  EXPECT_TRUE(becomes_true([&] { return has_ended(shell.child); }));
  EXPECT_EQ(kill_child(shell.child).text, "exited with code 0") << "and not killed";
  const Shell alive("sleep 1000");
  EXPECT_FALSE(has_ended(alive.child));
  kill_child(alive.child);
}

constexpr std::int64_t kHeld = 64 << 20;

/// Two processes of one group that share that much memory.
class Group : public testing::Test {
 protected:
  Group() {
    int ready[2];
    if (pipe(ready) != 0) return;
    leader_ = fork();
    if (leader_ == 0) hold(ready[1]);
    setpgid(leader_, leader_);
    char said[2];
    for (int i = 0; i < 2; ++i) EXPECT_EQ(read(ready[0], said, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }

  ~Group() override { kill_child(leader_); }

  [[noreturn]] static void hold(int ready) {
    setpgid(0, 0);
    void* memory = mmap(nullptr, kHeld, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, kHeld);
    fork();
    if (write(ready, "!", 1) != 1) _exit(1);
    for (;;) pause();
  }

  pid_t leader_ = -1;
};

TEST_F(Group, HoldsWhatItsProcessesDo) {
  EXPECT_GE(resident_bytes(leader_, false), 2 * kHeld);
  EXPECT_LT(resident_bytes(leader_, true), 2 * kHeld) << "a page that both share counts once";
  EXPECT_GE(resident_bytes(leader_, true), kHeld);
  EXPECT_EQ(resident_bytes(1 << 30, false), 0);
}

TEST_F(Group, IsWatched) {
  EXPECT_FALSE(MemoryWatch().excess(leader_, 2 * kHeld));
  EXPECT_FALSE(MemoryWatch().excess(leader_, 0)) << "no limit";
  MemoryWatch watch;
  EXPECT_GE(watch.excess(leader_, kHeld / 2).value_or(0), kHeld);
  EXPECT_FALSE(watch.excess(leader_, kHeld / 2)) << "not looked at twice within a moment";
}

}  // namespace
}  // namespace bic

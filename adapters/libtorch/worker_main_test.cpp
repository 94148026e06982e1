#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <nlohmann/json.hpp>
#include <thread>

#include "adapters/protocol/channel.h"
#include "adapters/protocol/messages.h"
#include "suites/ops/op_spec.h"

namespace bic::libtorch {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using WorkerMain = int (*)(int, const char*, unsigned (*)(int));

/// The library as the program loads it: nothing of ATen is linked into this test.
WorkerMain worker_main() {
  void* const library = dlopen(BIC_WORKER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  if (library == nullptr) return nullptr;
  return reinterpret_cast<WorkerMain>(dlsym(library, "bic_worker_main"));
}

/// What a worker of that name says of itself.
protocol::Hello hello_of(const char* backend) {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const protocol::Descriptor ours(ends[0]);
  int status = -1;
  protocol::Hello hello;
  {
    std::jthread worker([&, theirs = protocol::Descriptor(ends[1])] {
      status = worker_main()(theirs.get(), backend, nullptr);
    });
    EXPECT_TRUE(protocol::send(ours.get(), {{"do", "hello"}}));
    protocol::Message reply;
    EXPECT_EQ(protocol::receive(ours.get(), reply), protocol::Received::kMessage);
    hello = reply.body.get<protocol::Hello>();
    shutdown(ours.get(), SHUT_RDWR);
  }
  EXPECT_EQ(status, 0);
  return hello;
}

TEST(WorkerLibrary, ServesStockAndLeavesWhenTheOtherSideDoes) {
  const protocol::Hello hello = hello_of("libtorch");
  EXPECT_EQ(hello.backend, "libtorch");
  EXPECT_EQ(hello.manifest.size(), registry().size());
  EXPECT_THAT(hello.libraries, Contains(EndsWith("libbic_libtorch.so")));
}

TEST(WorkerLibrary, OwnsEveryOpWithAnOrderOrATailAndSaysWhyTheOthersAreStock) {
  for (const protocol::ManifestEntry& entry : hello_of("libtorch-invariant").manifest) {
    const ControlKind control = find_op(entry.op)->control;
    const bool shows = control == ControlKind::kOrder || control == ControlKind::kTail;
    EXPECT_TRUE(!shows || !entry.own.empty()) << entry.op;
    EXPECT_EQ(entry.stock_reason.empty(), !entry.own.empty()) << entry.op;
  }
}

TEST(WorkerLibrary, RefusesAnUnknownBackendInOneLine) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(worker_main()(-1, "no-such-backend", nullptr), 2);
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_THAT(line, HasSubstr("no-such-backend"));
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

}  // namespace
}  // namespace bic::libtorch

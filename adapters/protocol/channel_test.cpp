#include "adapters/protocol/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "adapters/protocol/shared_memory.h"
#include "results_schema/error.h"

namespace bic::protocol {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Channel : public testing::Test {
 protected:
  Channel() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    left = Descriptor(ends[0]);
    right = Descriptor(ends[1]);
  }

  Descriptor left, right;
};

TEST_F(Channel, CarriesJsonAndDescriptors) {
  const SharedMemory memory = SharedMemory::create(16);
  std::memcpy(memory.bytes().data(), "sixteen bytes!!", 16);
  ASSERT_TRUE(send(left.get(), {{"do", "load"}}, {memory.descriptor()}));
  Message message;
  ASSERT_EQ(receive(right.get(), message), Received::kMessage);
  EXPECT_EQ(message.body.at("do"), "load");
  ASSERT_EQ(message.descriptors.size(), 1u);
  const auto seen = SharedMemory::map(std::move(message.descriptors[0]), 16);
  EXPECT_STREQ(reinterpret_cast<const char*>(seen.bytes().data()), "sixteen bytes!!");
}

TEST_F(Channel, KeepsFramesApart) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(send(left.get(), {{"i", i}}));
  for (int i = 0; i < 3; ++i) {
    Message message;
    ASSERT_EQ(receive(right.get(), message), Received::kMessage);
    EXPECT_EQ(message.body.at("i"), i);
  }
}

TEST_F(Channel, ReadsAFrameOfSeveralPieces) {
  const std::string text(std::size_t{3} << 20, 'x');
  std::thread sender([&] { send(left.get(), {{"text", text}}); });
  Message message;
  EXPECT_EQ(receive(right.get(), message), Received::kMessage);
  sender.join();
  EXPECT_EQ(message.body.value("text", ""), text);
}

TEST_F(Channel, NoticesAClosedPeer) {
  left.reset();
  Message message;
  EXPECT_EQ(receive(right.get(), message), Received::kClosed);
  EXPECT_FALSE(send(right.get(), {{"i", 1}}));
}

TEST_F(Channel, GivesUpAtTheDeadline) {
  Message message;
  EXPECT_EQ(receive(right.get(), message, steady_clock::now() + milliseconds(20)),
            Received::kTimeout);
}

TEST_F(Channel, RefusesFramesThatAreNoMessages) {
  const std::uint32_t huge = 0xFFFFFFFFu;
  ASSERT_EQ(write(left.get(), &huge, sizeof huge), 4);
  Message message;
  EXPECT_THROW(receive(right.get(), message), HarnessError);
  const std::uint32_t three = 3;
  ASSERT_EQ(write(left.get(), &three, sizeof three), 4);
  ASSERT_EQ(write(left.get(), "{x}", 3), 3);
  EXPECT_THROW(receive(right.get(), message), HarnessError);
}

TEST_F(Channel, RefusesNumbersThatAreNoIntegersOf64Bits) {
  for (const double number : {1e300, 1.5, 2.0}) {
    ASSERT_TRUE(send(left.get(), {{"a", {{{"nanoseconds", number}}}}}));
    Message message;
    EXPECT_THROW(receive(right.get(), message), HarnessError) << number;
  }
  ASSERT_TRUE(send(left.get(), {{"input_digest", 0xfedcba9876543210}}));
  Message message;
  ASSERT_EQ(receive(right.get(), message), Received::kMessage);
  EXPECT_EQ(message.body.at("input_digest"), 0xfedcba9876543210);
}

TEST(SharedMemory, RefusesMoreThanThereIs) {
  const SharedMemory memory = SharedMemory::create(64);
  EXPECT_THROW(SharedMemory::map(Descriptor(dup(memory.descriptor())), 4096), HarnessError);
}

TEST(SharedMemory, KeepsItsSizeWhateverTheOtherSideDoes) {
  const SharedMemory memory = SharedMemory::create(4096);
  EXPECT_EQ(ftruncate(memory.descriptor(), 1), -1);
  EXPECT_EQ(ftruncate(memory.descriptor(), 1 << 20), -1);
}

}  // namespace
}  // namespace bic::protocol

#include "adapters/protocol/guarded.h"

#include <gtest/gtest.h>

#include <vector>

namespace bic::protocol {
namespace {

class Guarded : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 12;
  Guarded() { poison_and_guard(block(), kBytes); }
  std::byte* block() { return memory_.data() + kGuardBytes; }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kBytes + 2 * kGuardBytes);
};

TEST_F(Guarded, HoldsWhileOnlyTheBlockIsWritten) {
  EXPECT_TRUE(all_poison({block(), kBytes}));
  for (std::size_t i = 0; i < kBytes; ++i) block()[i] = std::byte{0};
  EXPECT_TRUE(guards_hold(block(), kBytes));
}

TEST_F(Guarded, SeesOneByteBesideTheBlock) {
  for (const std::ptrdiff_t at : {-1024, -1, 12, 12 + 1023}) {
    poison_and_guard(block(), kBytes);
    block()[at] = std::byte{0};
    EXPECT_FALSE(guards_hold(block(), kBytes)) << at;
  }
}

TEST_F(Guarded, CountsElementsOfWhichEveryByteIsPoison) {
  block()[5] = std::byte{0};
  EXPECT_EQ(count_poison({block(), kBytes}, 4), 2);
  EXPECT_EQ(count_poison({block(), kBytes}, 1), 11);
  EXPECT_FALSE(all_poison({block(), kBytes}));
}

}  // namespace
}  // namespace bic::protocol

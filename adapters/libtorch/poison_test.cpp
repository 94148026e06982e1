#include "adapters/libtorch/poison.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>

#include "adapters/protocol/guarded.h"

namespace bic::libtorch {
namespace {

using protocol::all_poison;
using protocol::count_poison;
using protocol::kGuard;

class Poison : public testing::Test {
 protected:
  Poison() {
    install_poison();
    forget_damage();
  }
};

std::span<const std::byte> bytes_of(const at::Tensor& t) {
  return {static_cast<const std::byte*>(t.const_data_ptr()), t.nbytes()};
}

TEST_F(Poison, FillsFreshTensorsWithNan) {
  for (at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    const at::Tensor fresh = at::empty({33}, type);
    EXPECT_TRUE(all_poison(bytes_of(fresh)));
    EXPECT_TRUE(at::isnan(fresh).all().item<bool>()) << type;
  }
}

TEST_F(Poison, AlignsBlocksTo64Bytes) {
  const at::Tensor fresh = at::empty({3}, at::kHalf);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(fresh.data_ptr()) % 64, 0u);
}

TEST_F(Poison, CountsElementsOfWhichEveryByteIsPoison) {
  at::Tensor fresh = at::empty({10}, at::kFloat);
  fresh[3] = 0.0;
  fresh[4] = std::nanf("");
  EXPECT_EQ(count_poison(bytes_of(fresh), 4), 8);
}

TEST_F(Poison, LeavesGuardsOfHonestUseWhole) {
  const at::Tensor x = at::randn({7, 33});
  at::Tensor y = at::mm(x, at::randn({33, 5}));
  y = at::softmax(y.to(at::kBFloat16), -1);
  EXPECT_FALSE(guards_damaged());
}

TEST_F(Poison, SeesDamageBehindALivingBlock) {
  const at::Tensor x = at::zeros({3}, at::kFloat);
  x.data_ptr<float>()[3] = 1;
  EXPECT_TRUE(guards_damaged());
  std::memset(x.data_ptr<float>() + 3, static_cast<int>(kGuard), 4);
  EXPECT_FALSE(guards_damaged());
}

TEST_F(Poison, SeesDamageBeforeABlockThatIsFreedAndForgetsItWhenTold) {
  {
    const at::Tensor x = at::zeros({3}, at::kFloat);
    x.data_ptr<float>()[-1] = 1;
  }
  EXPECT_TRUE(guards_damaged());
  forget_damage();
  EXPECT_FALSE(guards_damaged());
}

TEST_F(Poison, CanBeSwitchedOffAndItsBlocksAreFreedAlike) {
  at::Tensor unfilled;
  {
    const PoisonOff off;
    unfilled = at::zeros({1000}, at::kFloat);
    unfilled.data_ptr<float>()[1000] = 1;  // no guard to hit
  }
  EXPECT_FALSE(guards_damaged());
  unfilled.reset();
  EXPECT_FALSE(guards_damaged());
  EXPECT_TRUE(all_poison(bytes_of(at::empty({4}))));
}

}  // namespace
}  // namespace bic::libtorch

#include "harness/judge/permuted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace bic {
namespace {

using testing::ElementsAre;

TEST(Permutation, HasEveryElementOnce) {
  for (const Order order : kControlOrders) {
    for (const std::int64_t extent : {1, 2, 3, 15, 16, 17, 64, 100}) {
      const auto from = permutation(order, extent);
      const std::set<std::int64_t> distinct(from.begin(), from.end());
      EXPECT_EQ(static_cast<std::int64_t>(from.size()), extent);
      EXPECT_EQ(static_cast<std::int64_t>(distinct.size()), extent);
      EXPECT_EQ(*distinct.rbegin(), extent - 1);
    }
  }
}

TEST(Permutation, MovesElementsAsTheOrderSays) {
  EXPECT_THAT(permutation(Order::kReversed, 4), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(permutation(Order::kHalves, 5), ElementsAre(0, 3, 1, 4, 2));
  const auto lanes = permutation(Order::kLanes16, 33);
  EXPECT_EQ(std::vector(lanes.begin(), lanes.begin() + 5),
            (std::vector<std::int64_t>{0, 16, 32, 1, 17}));
  EXPECT_THAT(permutation(Order::kSequential, 3), ElementsAre(0, 1, 2));
}

Variant reducing(std::vector<std::string> axes) {
  Variant v;
  v.reduced = std::move(axes);
  return v;
}

TEST(Permuted, MovesReducedAxesOnly) {
  const TensorSpec x{"x", {"B", "k", "n"}};
  const Dims dims{{"k", 3}, {"n", 2}};
  const std::vector<double> block{1, 2, 3, 4, 5, 6};
  EXPECT_THAT(permuted(x, reducing({"k"}), dims, Order::kReversed, block, Permuting::kInto),
              ElementsAre(5, 6, 3, 4, 1, 2));
  EXPECT_THAT(permuted(x, reducing({"k", "n"}), dims, Order::kReversed, block, Permuting::kInto),
              ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_EQ(permuted(x, reducing({"m"}), dims, Order::kReversed, block, Permuting::kInto), block);
}

TEST(Permuted, PutsBackWhatItMoved) {
  const TensorSpec x{"x", {"B", "s", "h"}};
  const Dims dims{{"s", 5}, {"h", 37}};
  std::vector<double> block(5 * 37);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<double>(i);
  const Variant v = reducing({"s", "h"});
  for (const Order order : kControlOrders) {
    const auto moved = permuted(x, v, dims, order, block, Permuting::kInto);
    EXPECT_NE(moved, block);
    EXPECT_EQ(permuted(x, v, dims, order, moved, Permuting::kBack), block);
  }
}

}  // namespace
}  // namespace bic

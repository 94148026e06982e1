#include "reference_kernels/oracle/summation.h"

#include <gtest/gtest.h>

#include <string>

namespace bic {
namespace {

/// Writes down the tree it is summed by; the zero it starts from leaves no trace.
struct Traced {
  std::string tree;
  friend Traced operator+(const Traced& a, const Traced& b) {
    if (a.tree.empty()) return b;
    if (b.tree.empty()) return a;
    return {"(" + a.tree + "+" + b.tree + ")"};
  }
  Traced& operator+=(const Traced& b) { return *this = *this + b; }
};

std::string tree(Order order, int count) {
  return sum_in_order<Traced>(
             order, count, [](std::int64_t i) { return Traced{std::to_string(i)}; })
      .tree;
}

TEST(Summation, AddsInTheStatedOrders) {
  EXPECT_EQ(tree(Order::kSequential, 4), "(((0+1)+2)+3)");
  EXPECT_EQ(tree(Order::kReversed, 4), "(((3+2)+1)+0)");
  EXPECT_EQ(tree(Order::kHalves, 5), "(((0+1)+2)+(3+4))");
  EXPECT_EQ(tree(Order::kPairwise, 10), "(((((0+1)+2)+3)+4)+((((5+6)+7)+8)+9))");
  EXPECT_EQ(tree(Order::kLanes16, 3), "((0+2)+1)");
  EXPECT_EQ(tree(Order::kLanes16, 17),
            "(((((0+16)+8)+(4+12))+((2+10)+(6+14)))+"
            "(((1+9)+(5+13))+((3+11)+(7+15))))");
}

TEST(Summation, AddsEveryTermOnceInEveryOrder) {
  for (Order order :
       {Order::kSequential, Order::kReversed, Order::kHalves, Order::kLanes16, Order::kPairwise}) {
    for (int count : {0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 100}) {
      const std::int64_t sum = sum_in_order<std::int64_t>(
          order, count, [](std::int64_t i) { return (i + 1) * (i + 1); });
      EXPECT_EQ(sum, count * (count + 1) * (2 * count + 1) / 6) << count;
    }
  }
}

}  // namespace
}  // namespace bic

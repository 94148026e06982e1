#include "harness/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "harness/trace/op_case.h"
#include "harness/trace/unify.h"

namespace bic {
namespace {

using testing::ElementsAre;

/// An op on a sample alone or on a batch: the digest of the sample's block along axis 0.
OpDigest digest(std::string overload, std::vector<std::int64_t> shape, std::uint64_t block) {
  return {std::move(overload), {{std::move(shape), {{0, block}}}}};
}

TEST(FirstDiffering, IsTheFirstPairWithOtherBits) {
  const auto found = first_differing({digest("a", {2, 3}, 1), digest("b", {2}, 2)},
                                     {digest("a", {8, 3}, 1), digest("b", {8}, 7)},
                                     4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->alone, 1u);
  EXPECT_EQ(found->batched, 1u);
  EXPECT_EQ(found->block.axis, 0);
  EXPECT_TRUE(found->only_batched.empty());
}

TEST(FirstDiffering, IsNoneWhereAllAreEqual) {
  EXPECT_FALSE(first_differing({digest("a", {2, 3}, 1)}, {digest("a", {8, 3}, 1)}, 4));
}

TEST(FirstDiffering, LooksAtTheAxisThatGrewAlone) {
  const OpDigest alone{"a", {{{4, 4}, {{0, 1}, {1, 1}}}}};
  EXPECT_FALSE(first_differing({alone}, {{"a", {{{4, 16}, {{0, 9}, {1, 1}}}}}}, 4));
  const auto found = first_differing({alone}, {{"a", {{{4, 16}, {{0, 1}, {1, 9}}}}}}, 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->block.axis, 1);
}

TEST(FirstDiffering, PassesOverALoopOverTheSamples) {
  // What a loop makes of another sample is no difference.
  const std::vector<OpDigest> alone{
      digest("in", {2}, 1), digest("loop", {3}, 5), digest("out", {2}, 4)};
  std::vector<OpDigest> batched{digest("in", {8}, 1),
                                digest("loop", {3}, 6),
                                digest("loop", {3}, 7),
                                digest("loop", {3}, 8),
                                digest("loop", {3}, 5),
                                digest("out", {8}, 4)};
  EXPECT_FALSE(first_differing(alone, batched, 4));
  batched.back() = digest("out", {8}, 9);
  const auto found = first_differing(alone, batched, 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->batched, 5u);
}

TEST(FirstDiffering, TellsWhatOnlyOneOfThePassesRan) {
  const auto found =
      first_differing({digest("addmm", {2}, 1), digest("out", {2}, 2)},
                      {digest("bmm", {8}, 1), digest("add_", {8}, 1), digest("out", {8}, 3)},
                      4);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->only_alone, ElementsAre("addmm"));
  EXPECT_THAT(found->only_batched, ElementsAre("bmm", "add_"));
}

TEST(SamplePlan, PutsTheSampleAtItsPosition) {
  EXPECT_THAT((SamplePlan{7, 3, 2}.requests()), ElementsAre(8, 9, 7));
  EXPECT_THAT((SamplePlan{0, 3, 0}.requests()), ElementsAre(0, 1, 2));
  EXPECT_THAT((SamplePlan{5, 1, 0}.requests()), ElementsAre(5));
}

TEST(Distance, IsTheOneOfTheSpecification) {
  const std::array<float, 4> alone{3, -4, 0, 0}, batched{3, -4, 1, -1};
  const Distance d =
      distance(DType::kFloat32, std::as_bytes(std::span(alone)), std::as_bytes(std::span(batched)));
  EXPECT_EQ(d.max_abs, 1);
  EXPECT_EQ(d.mean_abs, 0.5);
  EXPECT_DOUBLE_EQ(d.rmse, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(d.relative_l2, std::sqrt(2) / 5);
  EXPECT_EQ(d.output_abs_max, 4);
}

TEST(Unify, SolvesWhatADeclarationLeavesOpen) {
  const std::vector<TensorSpec> tensors{{"x", {"B", "rgb", "p*ho", "q*wo"}},
                                        {"w", {"n", "rgb", "p", "q"}}};
  const auto found = unify(tensors, {{5, 3, 21, 14}, {44, 3, 7, 7}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->batch, 5);
  EXPECT_EQ(found->dims, (Dims{{"ho", 3}, {"n", 44}, {"p", 7}, {"q", 7}, {"rgb", 3}, {"wo", 2}}));
  EXPECT_FALSE(unify(tensors, {{5, 3, 20, 14}, {44, 3, 7, 7}})) << "20 is no multiple of 7";
  EXPECT_FALSE(unify(tensors, {{5, 3, 21, 14}, {44, 4, 7, 7}})) << "3 and 4 channels";
  EXPECT_FALSE(unify(tensors, {{5, 3, 21, 14}})) << "a tensor is missing";
}

TensorSight fp32(std::vector<std::int64_t> shape) { return {"fp32", std::move(shape), {}}; }

OpCase case_of(const CallSight& call) { return std::get<OpCase>(op_case(call)); }

TEST(OpCase, IsAVariantWithTheShapesOfTheCall) {
  const OpCase linear =
      case_of({"aten::linear", {fp32({5, 9, 44}), fp32({99, 44}), fp32({99})}, {}});
  EXPECT_EQ(linear.variant->name, "r3bias");
  EXPECT_EQ(linear.dims, (Dims{{"k", 44}, {"n", 99}, {"t", 9}}));
  EXPECT_EQ(linear.batch, 5);
  const OpCase addmm = case_of({"aten::addmm",
                                {fp32({99}), fp32({45, 44}), fp32({44, 99})},
                                {{"beta", "1"}, {"alpha", "1"}}});
  EXPECT_EQ(addmm.op->name, "addmm");
  EXPECT_EQ(addmm.batch, 45);
  const OpCase mean =
      case_of({"aten::mean.dim", {fp32({5, 15, 60})}, {{"dim", "[-1]"}, {"keepdim", "True"}}});
  EXPECT_EQ(mean.variant->name, "keepdim");
  EXPECT_EQ(mean.batch, 75);
}

TEST(OpCase, HasAReasonWhereThereIsNone) {
  EXPECT_EQ(std::get<std::string>(op_case(CallSight{"aten::cat", {fp32({5, 9})}, {}})),
            "moves bytes");
  EXPECT_EQ(std::get<std::string>(op_case(
                CallSight{"aten::sum.dim_IntList", {{"int64", {5, 9}, {}}}, {{"dim", "[1]"}}})),
            "integers: no rounding");
  const CallSight scaled{"aten::addmm",
                         {fp32({99}), fp32({45, 44}), fp32({44, 99})},
                         {{"beta", "0x1p-1"}, {"alpha", "1"}}};
  EXPECT_EQ(std::get<std::string>(op_case(scaled)), "the suite has no aten::addmm of these shapes");
}

TEST(OpCase, IsThatOfTheCallThatWasServedWhereThereIsOne) {
  const CallSight matmul{"aten::matmul", {fp32({5, 4, 10, 14}), fp32({5, 4, 14, 10})}, {}};
  const CallSight bmm{"aten::bmm", {fp32({20, 10, 14}), fp32({20, 14, 10})}, {}};
  EXPECT_EQ(std::get<OpCase>(op_case(OpSight{bmm, matmul, {}})).op->name, "matmul");
  EXPECT_EQ(std::get<OpCase>(op_case(OpSight{bmm, {}, {}})).op->name, "bmm");
}

}  // namespace
}  // namespace bic

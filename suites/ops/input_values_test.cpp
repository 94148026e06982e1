#include "suites/ops/input_values.h"

#include <gtest/gtest.h>

#include <set>

namespace bic {
namespace {

Variant gathering() {
  return {.name = "",
          .call = "",
          .inputs = {{"table", {"v", "h"}},
                     {"at", {"B", "t"}, Elements::kIndices, "v"},
                     {"mask", {"B", "t", "s"}, Elements::kBools, ""}},
          .output = {"y", {"B", "t", "h"}},
          .reduced = {"t"},
          .forms = {},
          .attributes = {}};
}

const Dims kDims{{"v", 13}, {"h", 4}, {"t", 64}, {"s", 9}};

std::vector<double> values_of(std::size_t input, SampleId id, std::uint64_t seed = 3) {
  const Variant v = gathering();
  const FillProblem problem = fill_problem_of(v, DType::kBFloat16, kDims, Law::kNormal, Seed{seed});
  std::size_t elements = 1;
  for (const std::int64_t extent : problem.operands[input].shape) elements *= extent;
  std::vector<std::byte> bytes(elements * element_size(v.inputs[input], DType::kBFloat16));
  fill_input(v, problem, kDims, input, id, bytes);
  std::vector<double> values(elements);
  widen_input(v.inputs[input], DType::kBFloat16, bytes, values);
  return values;
}

TEST(FillInput, DrawsEveryIndexBelowTheExtent) {
  std::set<double> seen;
  for (double v : values_of(1, SampleId{5})) seen.insert(v);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 12);
  EXPECT_GE(seen.size(), 11u);
}

TEST(FillInput, IsAFunctionOfSeedAndSample) {
  for (std::size_t input : {1u, 2u}) {
    EXPECT_EQ(values_of(input, SampleId{5}), values_of(input, SampleId{5}));
    EXPECT_NE(values_of(input, SampleId{5}), values_of(input, SampleId{6}));
    EXPECT_NE(values_of(input, SampleId{5}, 3), values_of(input, SampleId{5}, 4));
  }
}

TEST(FillInput, LeavesTheFirstOfEveryRowOfAMask) {
  const std::vector<double> mask = values_of(2, SampleId{1});
  std::size_t masked = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (i % 9 == 0) {
      EXPECT_EQ(mask[i], 1);
    }
    EXPECT_TRUE(mask[i] == 0 || mask[i] == 1);
    EXPECT_EQ(mask[i], mask[i - i % 9 + i % 9 % 5]) << "half an axis away";
    masked += mask[i] == 0;
  }
  EXPECT_GT(masked, mask.size() / 8);
  EXPECT_LT(masked, mask.size() / 3);
}

TEST(FillProblem, ReducesNoAxisOfIndices) {
  const FillProblem p = fill_problem_of(gathering(), DType::kFloat32, kDims, Law::kCancel, Seed{1});
  EXPECT_TRUE(p.operands[1].reduced.empty());
  EXPECT_TRUE(p.operands[0].common);
  EXPECT_FALSE(p.operands[2].common);
}

}  // namespace
}  // namespace bic

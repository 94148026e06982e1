#include "generators/dims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "results_schema/error.h"

namespace bic {
namespace {

const auto kAnything = [](const Dims&) { return true; };
const std::vector<DimRange> kRanges{{"k", 1, 4096}, {"n", 1, 4096}};

std::vector<Dims> many(int count) {
  std::vector<Dims> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(draw_dims(kRanges, Seed{static_cast<std::uint64_t>(i)}, kAnything));
  }
  return all;
}

TEST(DrawDims, IsAFunctionOfItsSeed) {
  EXPECT_EQ(many(50), many(50));
  EXPECT_NE(draw_dims(kRanges, Seed{1}, kAnything), draw_dims(kRanges, Seed{2}, kAnything));
}

TEST(DrawDims, AnotherDimChangesNoOther) {
  const std::vector<DimRange> more{{"a", 1, 64}, kRanges[0], kRanges[1]};
  for (std::uint64_t s = 0; s < 20; ++s) {
    EXPECT_EQ(draw_dims(more, Seed{s}, kAnything)["k"],
              draw_dims(kRanges, Seed{s}, kAnything)["k"]);
  }
}

TEST(DrawDims, ReachesEdgesAndIsUnalignedMostOfTheTime) {
  int aligned = 0;
  int ones = 0;
  std::set<std::int64_t> seen;
  for (const Dims& dims : many(2000)) {
    const std::int64_t k = dims.at("k");
    ASSERT_TRUE(k >= 1 && k <= 4096);
    aligned += is_aligned(k);
    ones += k == 1;
    seen.insert(k);
  }
  EXPECT_GT(aligned, 200);
  EXPECT_LT(aligned, 800);
  EXPECT_GT(ones, 60);
  for (const std::int64_t edge : {8, 16, 32, 48, 64, 128, 256}) {
    EXPECT_THAT(seen, testing::IsSupersetOf({edge - 1, edge, edge + 1}));
  }
  EXPECT_THAT(seen, testing::IsSupersetOf({2, 3, 7, 11, 13, 4096, 4095, 2049, 1021}));
}

TEST(DrawDims, AxesAreIndependent) {
  int both = 0;
  int first = 0;
  int second = 0;
  for (const Dims& dims : many(2000)) {
    first += dims.at("k") < 64;
    second += dims.at("n") < 64;
    both += dims.at("k") < 64 && dims.at("n") < 64;
  }
  EXPECT_NEAR(both / 2000.0, first / 2000.0 * second / 2000.0, 0.04);
}

TEST(DrawDims, ShrinksTheLargestUntilItFits) {
  const auto is_small = [](const Dims& dims) { return dims.at("k") * dims.at("n") <= 4096; };
  for (std::uint64_t s = 0; s < 200; ++s) {
    EXPECT_TRUE(is_small(draw_dims(kRanges, Seed{s}, is_small)));
  }
}

TEST(DrawDims, StopsAtTheLowerBounds) {
  const std::vector<DimRange> ranges{{"k", 16, 512}, {"n", 3, 512}};
  const Dims dims = draw_dims(ranges, Seed{1}, [](const Dims&) { return false; });
  EXPECT_EQ(dims, (Dims{{"k", 16}, {"n", 3}}));
}

TEST(DrawDims, RefusesEmptyRanges) {
  EXPECT_THROW(draw_dims(std::vector<DimRange>{{"k", 5, 4}}, Seed{}, kAnything), UsageError);
  EXPECT_THROW(draw_dims(std::vector<DimRange>{{"k", 0, 4}}, Seed{}, kAnything), UsageError);
}

TEST(Positions, AreFirstMiddleLastAndBesideEdges) {
  EXPECT_THAT(positions(1), testing::ElementsAre(0));
  EXPECT_THAT(positions(7), testing::ElementsAre(0, 3, 4, 6));
  EXPECT_THAT(positions(33), testing::ElementsAre(0, 3, 4, 7, 8, 15, 16, 31, 32));
  EXPECT_TRUE(positions(0).empty());
}

TEST(BatchSizes, HoldTheSizesBesideEveryEdge) {
  const std::set<std::int64_t> sizes(batch_sizes().begin(), batch_sizes().end());
  EXPECT_THAT(sizes, testing::IsSupersetOf({1,  2,  3,  4,  5,  7,   8,   15,  16,  17,  31,
                                            32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}));
}

TEST(IsAligned, IsAMultipleOfSixteen) {
  EXPECT_TRUE(is_aligned(48));
  EXPECT_FALSE(is_aligned(1));
  EXPECT_FALSE(is_aligned(40));
}

}  // namespace
}  // namespace bic

#include "results_schema/render/html/bit_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace bic::report {
namespace {

/// Of `alone`, with the bits that the digest stands for: "a" are those of the sample alone.
CaseResult seen(int k, int batch, int position, int sample, const std::string& digest) {
  CaseResult c;
  c.case_name = fmt::format("mm.alone/bf16:k{}:B{}@{}#{}~B1#{}:fill=cancel:s=0000000000000001",
                            k,
                            batch,
                            position,
                            sample,
                            sample);
  c.digest = digest;
  c.status = digest == "a" ? Status::kPass : Status::kFail;
  if (digest != "a") c.reasons = {digest.empty() ? Reason::kShape : Reason::kBits};
  return c;
}

using Places = std::set<BitMap::Place>;

std::optional<BitMap> map_of(const std::vector<CaseResult>& cases) {
  std::vector<const CaseResult*> pointers;
  for (const CaseResult& c : cases) pointers.push_back(&c);
  return bit_map(pointers);
}

TEST(BitMap, NumbersTheBitsOfASampleBySizeOfBatch) {
  const auto map = map_of({seen(64, 33, 7, 4, "c"),
                           seen(64, 8, 3, 4, "b"),
                           seen(64, 4, 1, 4, "a"),
                           seen(64, 65, 2, 4, "b")});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->problem, "k64 fill=cancel");
  EXPECT_EQ(map->cells.at({1, 0}).bits, 0);
  EXPECT_EQ(map->cells.at({4, 1}).bits, 0);
  EXPECT_EQ(map->cells.at({8, 3}).bits, 1);
  EXPECT_EQ(map->cells.at({33, 7}).bits, 2);
  EXPECT_EQ(map->cells.at({65, 2}).bits, 1);
  EXPECT_EQ(map->different, (Places{{8, 3}, {33, 7}, {65, 2}}));
  EXPECT_EQ(map->without_output, Places{});
}

TEST(BitMap, ShowsTheWorstOfSeveralSamplesInACell) {
  const auto map = map_of({seen(64, 8, 3, 4, "b"),
                           seen(64, 8, 3, 5, "a"),
                           seen(64, 9, 2, 4, "b"),
                           seen(64, 9, 2, 5, "")});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->cells.at({8, 3}).bits, 1);
  EXPECT_EQ(map->cells.at({8, 3}).cases, 2);
  EXPECT_EQ(map->cells.at({9, 2}).bits, BitMap::kNoOutput);
  EXPECT_EQ(map->different, (Places{{8, 3}, {9, 2}}));
  EXPECT_EQ(map->without_output, (Places{{9, 2}}));
}

TEST(BitMap, TellsPlacesWithoutOutputFromThoseWithOtherBits) {
  CaseResult crash = seen(64, 5, 2, 4, "");
  crash.status = Status::kCrash;
  crash.reasons = {Reason::kSignal};
  const auto map = map_of({crash, seen(64, 8, 3, 4, "b")});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->different, (Places{{8, 3}}));
  EXPECT_EQ(map->without_output, (Places{{5, 2}}));
  const auto without_bits = map_of({crash, seen(64, 8, 3, 4, "a")});
  ASSERT_TRUE(without_bits);
  EXPECT_EQ(without_bits->different, Places{});
  EXPECT_EQ(without_bits->differing_problems, 0);
}

TEST(BitMap, LeavesOutCasesThatDidNotRun) {
  for (const Status status :
       {Status::kUnsupported, Status::kSkipped, Status::kError, Status::kBlocked}) {
    CaseResult c = seen(64, 5, 2, 4, "");
    c.status = status;
    c.reasons = {};
    const auto map = map_of({c, seen(64, 8, 3, 4, "b")});
    ASSERT_TRUE(map);
    EXPECT_FALSE(map->cells.contains({5, 2})) << name(status);
    EXPECT_EQ(map->without_output, Places{}) << name(status);
  }
}

TEST(BitMap, ACaseThatPassedWithoutADigestHasTheBitsOfTheSampleAlone) {
  CaseResult passed = seen(64, 5, 2, 4, "a");
  passed.digest = "";
  const auto map = map_of({passed, seen(64, 8, 3, 4, "b")});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->cells.at({5, 2}).bits, 0);
}

TEST(BitMap, IsOfTheProblemThatDiffersMost) {
  const auto map = map_of({seen(64, 8, 3, 4, "b"),
                           seen(128, 8, 3, 4, "b"),
                           seen(128, 9, 3, 4, "b"),
                           seen(256, 8, 3, 4, "a")});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->problem, "k128 fill=cancel");
  EXPECT_EQ(map->problems, 3);
  EXPECT_EQ(map->differing_problems, 2);
}

TEST(BitMap, IsNoneWhereNoBatchDiffersOrNoneWasComparedWithTheSampleAlone) {
  EXPECT_FALSE(map_of({seen(64, 8, 3, 4, "a")}));
  CaseResult layout = seen(64, 8, 3, 4, "b");
  layout.case_name = "mm.layout/bf16:k64:B8@3#4,o=3~B8@3#4:fill=cancel:s=0000000000000001";
  EXPECT_FALSE(map_of({layout}));
}

}  // namespace
}  // namespace bic::report

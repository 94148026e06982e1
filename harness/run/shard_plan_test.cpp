#include "harness/run/shard_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "harness/plan/selection.h"
#include "harness/run/plan_digest.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr Seed kSeed{0xb1c0};

RunPlan quick(const Selection& selection, std::int64_t index = 0, std::int64_t count = 0) {
  std::optional<report::Shard> shard;
  if (count > 0) shard = report::Shard{.index = index, .count = count, .source = "--shard"};
  return plan_run(selection, Strength::kQuick, kSeed, shard);
}

TEST(Deal, GivesTheDearestFirstToTheShardWithLeast) {
  EXPECT_EQ(deal({1, 9, 5, 4, 1}, 2), (std::vector<std::int64_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(deal({3, 3, 3}, 3), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(deal({7}, 1), (std::vector<std::int64_t>{0}));
}

TEST(ShardPlan, CoversEachCellOnceInOrder) {
  const Selection all = make_selection({});
  const RunPlan whole = quick(all);
  for (const std::int64_t count : {2, 8}) {
    std::set<std::size_t> seen;
    for (std::int64_t index = 1; index <= count; ++index) {
      const RunPlan part = quick(all, index, count);
      EXPECT_EQ(part.digest, whole.digest);
      EXPECT_FALSE(part.cells.empty());
      EXPECT_TRUE(std::ranges::is_sorted(part.cells, {}, &Cell::place));
      for (const Cell& cell : part.cells) {
        EXPECT_TRUE(seen.insert(cell.place).second);
        EXPECT_EQ(cell.op, whole.cells[cell.place].op);
        EXPECT_EQ(cell.dtype, whole.cells[cell.place].dtype);
      }
    }
    EXPECT_EQ(seen.size(), whole.cells.size());
  }
}

TEST(ShardPlan, RefusesMoreShardsThanCells) {
  const Selection few = make_selection({.ops = {"mm"}, .dtypes = {"fp32", "bf16"}});
  EXPECT_EQ(quick(few, 2, 2).cells.size(), 1u);
  try {
    quick(few, 1, 3);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("3 shards are too many"));
  }
}

std::string digest(const SelectionText& text, Strength s = Strength::kQuick, Seed seed = kSeed) {
  const Selection selection = make_selection(text);
  return plan_digest(make_plan(selection, s), selection, s, seed);
}

TEST(PlanDigest, ChangesWithWhateverIsPlanned) {
  const SelectionText text{.ops = {"mm"}, .dtypes = {"fp32"}};
  std::vector<SelectionText> others(6, text);
  others[0].dtypes = {"bf16"};
  others[1].relations = {"alone"};
  others[2].level = "BI-2";
  others[3].case_pattern = "twins";
  others[4].dims = "k=67";
  others[5].batches = "1,5";
  std::set<std::string> digests{
      digest(text), digest(text, Strength::kStandard), digest(text, Strength::kQuick, Seed{1})};
  for (const SelectionText& other : others) digests.insert(digest(other));
  EXPECT_EQ(digests.size(), 3 + others.size());
}

TEST(PlanDigest, IsTheSameForTheSamePlanHoweverItWasSelected) {
  const SelectionText by_relation{.ops = {"mm"}, .relations = {"alone"}};
  const SelectionText by_pattern{.ops = {"mm"}, .case_pattern = "alone"};
  EXPECT_EQ(digest(by_relation), digest(by_pattern));
}

}  // namespace
}  // namespace bic

#include "results_schema/compare/speed.h"

#include <gtest/gtest.h>

#include "results_schema/compare/test_reports.h"

namespace bic::report {
namespace {

const OpRow kBefore = timed_row({1'000'000, 1'010'000, 990'000, 1'020'000, 980'000});

/// The row with all ratios to stock times `percent`.
OpRow scaled(OpRow row, std::int64_t percent) {
  for (std::int64_t& ratio : row.throughput->ratios_ppm) ratio = ratio * percent / 100;
  return row;
}

TEST(SpeedChange, OfEqualTimesIsNone) { EXPECT_FALSE(speed_change(kBefore, kBefore)); }

TEST(SpeedChange, OfThirtyPerCentIsSeenBothWays) {
  const auto slower = speed_change(kBefore, scaled(kBefore, 77));
  ASSERT_TRUE(slower);
  EXPECT_NEAR(static_cast<double>(slower->time_ppm), 1.3e6, 1e4);
  EXPECT_EQ(slower->before_ppm, 1'000'000);
  EXPECT_EQ(slower->now_ppm, 770'000);
  const auto faster = speed_change(scaled(kBefore, 77), kBefore);
  ASSERT_TRUE(faster);
  EXPECT_NEAR(static_cast<double>(faster->time_ppm), 0.77e6, 1e4);
}

TEST(SpeedChange, OfLessThanTenPerCentIsNone) {
  EXPECT_FALSE(speed_change(kBefore, scaled(kBefore, 92)));
  EXPECT_TRUE(speed_change(kBefore, scaled(kBefore, 89)));
}

/// The median moved by a third, but the middle halves overlap.
TEST(SpeedChange, WithinTheSpreadIsNone) {
  const OpRow noisy = timed_row({400'000, 500'000, 700'000, 990'000, 1'100'000});
  EXPECT_FALSE(speed_change(kBefore, noisy));
  EXPECT_TRUE(may_be_slower(kBefore, noisy)) << "reason to measure it further";
  EXPECT_FALSE(may_be_slower(kBefore, kBefore));
  EXPECT_FALSE(speed_change(noisy, kBefore));
}

/// A neighbour that takes the machine for a moment spoils a block or two.
TEST(SpeedChange, IsSeenBesideAnOutlier) {
  OpRow now = scaled(kBefore, 77);
  now.throughput->ratios_ppm[0] = 3'000'000;
  EXPECT_TRUE(speed_change(kBefore, now));
}

TEST(SpeedChange, IsLookedForWhereTheBackendsOwnTimeGrew) {
  OpRow before = kBefore, now = kBefore;
  before.throughput->backend_ns = 1000;
  now.throughput->backend_ns = 1090;
  EXPECT_FALSE(may_be_slower(before, now));
  now.throughput->backend_ns = 1100;
  EXPECT_TRUE(may_be_slower(before, now));
}

/// Of 25 pairs four measurements are slow and one is not.
TEST(SpeedChange, IsSeenOnlyWhereEveryMeasurementShowsIt) {
  const std::vector<std::int64_t> slow(5, 700'000), fast(5, 990'000);
  std::vector<std::int64_t> all;
  for (int i = 0; i < 5; ++i) all.insert(all.end(), slow.begin(), slow.end());
  EXPECT_TRUE(speed_change(kBefore, timed_row(all)));
  std::copy(fast.begin(), fast.end(), all.begin() + 10);
  EXPECT_FALSE(speed_change(kBefore, timed_row(all)));
}

/// Stock is the same code before and now: what moves it moves the machine.
TEST(SpeedChange, IsTheBackendsWhereStockHeldItsTime) {
  OpRow now = scaled(kBefore, 77);
  EXPECT_TRUE(speed_change(kBefore, now)->stock_held);
  now.throughput->stock_ns = 1120;
  EXPECT_TRUE(speed_change(kBefore, now)->stock_held);
  now.throughput->stock_ns = 1300;
  EXPECT_FALSE(speed_change(kBefore, now)->stock_held);
  now.throughput->stock_ns = 770;
  EXPECT_FALSE(speed_change(kBefore, now)->stock_held);
  EXPECT_EQ(speed_change(kBefore, now)->stock_ppm, 770'000);
}

TEST(SpeedChange, NeedsTheSameCallAndEnoughPairs) {
  const OpRow slow = scaled(kBefore, 50);
  OpRow other = slow;
  other.throughput->shape = "B=1,k=64";
  EXPECT_FALSE(speed_change(kBefore, other));
  other = slow;
  other.throughput->work = 7;
  EXPECT_FALSE(speed_change(kBefore, other));
  other = slow;
  other.throughput->ratios_ppm.pop_back();
  EXPECT_FALSE(speed_change(kBefore, other));
  other.throughput.reset();
  EXPECT_FALSE(speed_change(kBefore, other));
  EXPECT_TRUE(speed_change(kBefore, slow));
}

TEST(Speed, IsComparedOnOneMachineThatTimed) {
  Report before = report_of({}), now = report_of({});
  EXPECT_EQ(why_no_speed(before, now), "the old report has no times");
  before.ops = {kBefore};
  EXPECT_EQ(why_no_speed(before, now), "the new report has no times");
  now.ops = {kBefore};
  EXPECT_EQ(why_no_speed(before, now), "");
  now.environment.threads = 9;
  EXPECT_NE(why_no_speed(before, now), "");
  now.environment.threads = before.environment.threads;
  now.environment.cpu = "another";
  EXPECT_NE(why_no_speed(before, now), "");
}

}  // namespace
}  // namespace bic::report

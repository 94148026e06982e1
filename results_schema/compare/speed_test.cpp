#include "results_schema/compare/speed.h"

#include <gtest/gtest.h>

#include <random>

#include "results_schema/compare/test_reports.h"

namespace bic::report {
namespace {

const OpRow kBefore = timed_row(4000);

bool is_red(const OpRow& before, const OpRow& now) {
  const auto change = speed_change(before, now);
  return change && change->sure && change->share_ppm > 1'000'000;
}

TEST(SpeedChange, OfEqualTimesIsNone) { EXPECT_FALSE(speed_change(kBefore, kBefore)); }

TEST(SpeedChange, OfThirtyPerCentIsSeenBothWays) {
  const auto slower = speed_change(kBefore, timed_row(5200));
  ASSERT_TRUE(slower);
  EXPECT_EQ(slower->time_ppm, 1'300'000);
  EXPECT_EQ(slower->share_ppm, 1'300'000);
  EXPECT_EQ(slower->before_ns, 4000);
  EXPECT_EQ(slower->now_ns, 5200);
  EXPECT_TRUE(slower->sure);
  const auto faster = speed_change(timed_row(5200), kBefore);
  ASSERT_TRUE(faster);
  EXPECT_LT(faster->share_ppm, 800'000);
  EXPECT_TRUE(faster->sure);
}

TEST(SpeedChange, OfLessThanTenPerCentIsNone) {
  EXPECT_FALSE(speed_change(kBefore, timed_row(4390)));
  EXPECT_TRUE(speed_change(kBefore, timed_row(4400)));
  EXPECT_FALSE(may_be_slower(kBefore, timed_row(4390)));
  EXPECT_TRUE(may_be_slower(kBefore, timed_row(4400)));
}

/// Other work on the machine adds to a block's time and never takes from it.
TEST(SpeedChange, IsThatOfTheFastestBlocks) {
  OpRow now = timed_row(12'000, 9000);
  now.throughput->stock_blocks_ns[3] = 1000;
  EXPECT_TRUE(may_be_slower(kBefore, now));
  EXPECT_TRUE(is_red(kBefore, now));
  now.throughput->backend_blocks_ns[7] = 4100;
  EXPECT_FALSE(may_be_slower(kBefore, now));
  EXPECT_FALSE(speed_change(kBefore, now));
}

/// Stock is the same code before and now: what moves it moves the machine.
TEST(SpeedChange, IsNoneWhereStockMovedAsMuch) {
  EXPECT_FALSE(speed_change(kBefore, timed_row(5200, 1300)));
  EXPECT_FALSE(speed_change(kBefore, timed_row(3080, 770)));
}

TEST(SpeedChange, IsUndecidedWhereStockMovedByMoreThanHalfAsMuch) {
  EXPECT_TRUE(speed_change(kBefore, timed_row(5200, 1130))->sure);
  EXPECT_FALSE(speed_change(kBefore, timed_row(5200, 1160))->sure);
  EXPECT_EQ(speed_change(kBefore, timed_row(5200, 1160))->stock_ppm, 1'160'000);
  EXPECT_FALSE(speed_change(kBefore, timed_row(3080, 850))->sure);
}

/// A machine that is faster now is no excuse for a backend that takes longer; where the backend
/// takes as long as before it may be the machine's doing.
TEST(SpeedChange, IsTheBackendsWhereStockBecameFasterAndItsOwnTimeGrew) {
  EXPECT_TRUE(is_red(kBefore, timed_row(5200, 700)));
  const auto as_before = speed_change(kBefore, timed_row(4000, 700));
  ASSERT_TRUE(as_before);
  EXPECT_GT(as_before->share_ppm, 1'000'000);
  EXPECT_FALSE(as_before->sure);
}

TEST(SpeedChange, NeedsTheSameCallAndEnoughBlocks) {
  const OpRow slow = timed_row(8000);
  EXPECT_TRUE(speed_change(kBefore, slow));
  OpRow other = slow;
  other.throughput->shape = "B=1,k=64";
  EXPECT_FALSE(speed_change(kBefore, other));
  other = slow;
  other.throughput->work = 7;
  EXPECT_FALSE(speed_change(kBefore, other));
  other = slow;
  other.throughput->backend_blocks_ns.resize(kFewestBlocks - 1);
  EXPECT_FALSE(speed_change(kBefore, other));
  other = slow;
  other.throughput->stock_blocks_ns.clear();
  EXPECT_FALSE(speed_change(kBefore, other));
  EXPECT_FALSE(may_be_slower(kBefore, other));
  other.throughput.reset();
  EXPECT_FALSE(speed_change(kBefore, other));
}

/// A machine that other work uses: in some processes most blocks wait, in others few do.
struct Machine {
  int busy_processes;  ///< of 100
  int waits_when_busy, waits;
  std::mt19937 random;

  int draw(int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }

  /// Up to 6 % longer than it needs; one that waits, up to four times as long.
  std::int64_t block(std::int64_t ns, bool is_busy) {
    const bool has_waited = draw(100) < (is_busy ? waits_when_busy : waits);
    return ns * (100 + draw(7)) / 100 * (has_waited ? 120 + draw(280) : 100) / 100;
  }

  /// One more measurement, in new processes.
  void measure(std::int64_t backend_ns, std::int64_t stock_ns, Throughput& t) {
    const bool is_busy = draw(100) < busy_processes, stock_is_busy = draw(100) < busy_processes;
    for (std::size_t i = 0; i < kPairsOfOneMeasurement; ++i) {
      t.backend_blocks_ns.push_back(block(backend_ns, is_busy));
      t.stock_blocks_ns.push_back(block(stock_ns, stock_is_busy));
    }
  }

  OpRow baseline() {
    OpRow row{.op = "mm"};
    row.throughput.emplace();
    measure(300'000, 60'000, *row.throughput);
    return row;
  }

  /// As a gate does it.
  bool gate(const OpRow& before, int percent) {
    OpRow now{.op = "mm"};
    now.throughput.emplace();
    int measurements = 0;
    do {
      measure(3000 * percent, 60'000, *now.throughput);
    } while (++measurements < kMostMeasurements && may_be_slower(before, now));
    return is_red(before, now);
  }

  int red_of_1000(int percent) {
    int red = 0;
    for (int i = 0; i < 1000; ++i) red += gate(baseline(), percent);
    return red;
  }
};

Machine quiet_machine() { return {.busy_processes = 10, .waits_when_busy = 60, .waits = 5}; }
Machine busy_machine() { return {.busy_processes = 50, .waits_when_busy = 90, .waits = 60}; }

TEST(Gate, OfTheSameKernelIsNotRedByNoise) {
  EXPECT_EQ(quiet_machine().red_of_1000(100), 0);
  EXPECT_LE(busy_machine().red_of_1000(100), 1);
}

TEST(Gate, OfAThirtyPerCentSlowerKernelIsRed) {
  EXPECT_GE(quiet_machine().red_of_1000(130), 999);
  EXPECT_GE(busy_machine().red_of_1000(130), 900);
}

TEST(Speed, IsComparedOnOneMachineThatTimed) {
  Report before = report_of({}), now = report_of({});
  EXPECT_EQ(why_no_speed(before, now), "the old report has no times of blocks");
  before.ops = {kBefore};
  EXPECT_EQ(why_no_speed(before, now), "the new report has no times of blocks");
  now.ops = {kBefore};
  EXPECT_EQ(why_no_speed(before, now), "");
  now.environment.threads = 9;
  EXPECT_NE(why_no_speed(before, now), "");
  now.environment.threads = before.environment.threads;
  now.environment.cpu = "another";
  EXPECT_NE(why_no_speed(before, now), "");
  now = before;
  before.ops[0].throughput->backend_blocks_ns.clear();
  EXPECT_EQ(why_no_speed(before, now), "the old report has no times of blocks");
}

}  // namespace
}  // namespace bic::report

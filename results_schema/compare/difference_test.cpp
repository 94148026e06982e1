#include "results_schema/compare/difference.h"

#include <gtest/gtest.h>

#include "results_schema/compare/test_reports.h"
#include "results_schema/report_example.h"

namespace bic::report {
namespace {

const std::string kCase = case_of("mm", "alone", 2);

Report with_row(Level level, std::int64_t worst_error_ppm) {
  Report r = report_of({{kCase, Status::kPass}});
  r.ops = {OpRow{.op = "mm", .level = level, .worst_error_ppm = worst_error_ppm, .why = "alone"}};
  return r;
}

TEST(Difference, OfAReportAndItselfIsNothing) {
  Report r = example_report();
  r.waivers.clear();
  const Difference d = compare(r, r);
  EXPECT_FALSE(d.red());
  EXPECT_TRUE(d.cases.failures.empty() && d.cases.lost.empty() && d.cases.fixed.empty());
  EXPECT_TRUE(d.models.empty() && d.levels.empty() && d.drift.empty());
  EXPECT_TRUE(d.slower.empty() && d.faster.empty());
}

/// One list after the other.
TEST(Difference, IsRedForEachThatIsWorse) {
  EXPECT_FALSE(Difference().red());
  Difference d;
  d.cases.failures.resize(1);
  EXPECT_TRUE(d.red());
  d = {};
  d.cases.lost.resize(1);
  EXPECT_TRUE(d.red());
  d = {};
  d.models.resize(1);
  EXPECT_TRUE(d.red());
  d = {};
  d.missing.resize(1);
  EXPECT_TRUE(d.red());
  d = {};
  d.levels.resize(1);
  EXPECT_TRUE(d.red());
  d = {};
  d.slower.resize(1);
  EXPECT_TRUE(d.red());
  d = {};
  d.stale.resize(1);
  EXPECT_TRUE(d.red());
  d = {};
  d.cases.vacuous.resize(1);
  d.cases.waived.resize(1);
  d.cases.fixed.resize(1);
  d.drift.resize(1);
  d.faster.resize(1);
  d.unsure.resize(1);
  d.used.resize(1);
  d.expired.resize(1);
  EXPECT_FALSE(d.red());
}

TEST(Difference, HasTheRowsThatHoldLess) {
  const Report high = with_row(Level::kSchedule, 0);
  Report low = with_row(Level::kBatch, 0);
  const Difference d = compare(high, low);
  ASSERT_EQ(d.levels.size(), 1u);
  EXPECT_EQ(d.levels[0].before, Level::kSchedule);
  EXPECT_EQ(d.levels[0].now, Level::kBatch);
  EXPECT_EQ(d.levels[0].why, "alone");
  EXPECT_TRUE(compare(low, high).levels.empty());
  EXPECT_TRUE(compare(high, of_another_plan(low)).levels.empty()) << "that asked for other things";
  low.ops[0].cases[Status::kWaived] = 1;
  EXPECT_TRUE(compare(high, low).levels.empty()) << "its waiver answers for it";
  low.ops[0].relations = {{.relation = "twins", .required = true, .vacuous = 3}};
  EXPECT_EQ(compare(high, low).levels.size(), 1u) << "not for another relation";
}

TEST(Difference, HasTheRowsWhoseErrorMovedByAPerCentOfItsBound) {
  const Report before = with_row(Level::kSchedule, 300'000);
  const auto drift_to = [&](std::int64_t ppm) {
    return compare(before, with_row(Level::kSchedule, ppm)).drift;
  };
  EXPECT_TRUE(drift_to(309'999).empty());
  ASSERT_EQ(drift_to(310'000).size(), 1u);
  EXPECT_EQ(drift_to(310'000)[0].now_ppm, 310'000);
  EXPECT_EQ(drift_to(290'000).size(), 1u);
  EXPECT_TRUE(compare(before, of_another_plan(with_row(Level::kSchedule, 900'000))).drift.empty());
}

TEST(Difference, HasDecodersThatFailAnewOrWereNotAsked) {
  Report held = report_of({}), failing = report_of({}), none = report_of({});
  held.decoder = {example_held_decoder()};
  failing.decoder = {example_decoder()};
  const auto changes = [](const Report& a, const Report& b) { return compare(a, b).models; };
  ASSERT_EQ(changes(held, failing).size(), 1u);
  EXPECT_EQ(changes(held, failing)[0].name, "decoder.tiny/bf16");
  EXPECT_EQ(changes(held, failing)[0].now, Status::kFail);
  EXPECT_EQ(changes(none, failing).size(), 1u);
  ASSERT_EQ(changes(held, none).size(), 1u);
  EXPECT_EQ(changes(held, none)[0].now, std::nullopt);
  EXPECT_TRUE(changes(failing, held).empty());
  EXPECT_TRUE(changes(failing, failing).empty());
  EXPECT_TRUE(changes(held, held).empty());
  EXPECT_TRUE(changes(none, held).empty());
  Report waived = held;
  waived.decoder[0].status = Status::kWaived;
  EXPECT_TRUE(changes(held, waived).empty());
  EXPECT_EQ(changes(waived, failing).size(), 1u);
}

TEST(Difference, HasModelsThatFailAnewOrWereNotRun) {
  Report held = report_of({}), failing = report_of({}), none = report_of({});
  held.models = {{.model = "pi0", .preset = "tiny", .status = Status::kPass}};
  failing.models = {{.model = "pi0", .preset = "tiny", .status = Status::kFail, .message = "off"}};
  const auto changes = [](const Report& a, const Report& b) { return compare(a, b).models; };
  ASSERT_EQ(changes(held, failing).size(), 1u);
  EXPECT_EQ(changes(held, failing)[0].name, "pi0 tiny fp32");
  EXPECT_EQ(changes(held, failing)[0].message, "off");
  EXPECT_EQ(changes(held, none).size(), 1u);
  EXPECT_TRUE(changes(held, held).empty());
  EXPECT_TRUE(changes(failing, failing).empty());
  EXPECT_TRUE(changes(failing, held).empty());
}

TEST(Difference, HasTheSlowestRowFirst) {
  Report before = report_of({}), now = report_of({});
  before.ops = {timed_row(4000), timed_row(4000), timed_row(4000)};
  now.ops = {timed_row(5000), timed_row(8000), timed_row(2000)};
  before.ops[1].op = now.ops[1].op = "bmm";
  before.ops[2].op = now.ops[2].op = "sum";
  const Difference d = compare(before, now);
  ASSERT_EQ(d.slower.size(), 2u);
  EXPECT_EQ(d.slower[0].op, "bmm");
  EXPECT_EQ(d.slower[1].op, "mm");
  ASSERT_EQ(d.faster.size(), 1u);
  EXPECT_EQ(d.faster[0].op, "sum");
  now.ops[1].throughput->stock_blocks_ns.assign(kPairsOfOneMeasurement, 1500);
  ASSERT_EQ(compare(before, now).unsure.size(), 1u);
  EXPECT_EQ(compare(before, now).unsure[0].op, "bmm");
  EXPECT_EQ(compare(before, now).slower.size(), 1u);
  now.environment.cpu = "another";
  EXPECT_TRUE(compare(before, now).slower.empty());
  EXPECT_NE(compare(before, now).why_no_speed, "");
}

TEST(Difference, PutsTheWaiversByWhatCameOfThem) {
  const auto waivers_of = [](WaiverState state) {
    Report now = report_of({});
    now.waivers = {{.pattern = "x", .state = state}};
    const Difference d = compare(report_of({}), now);
    return std::vector{d.used.size(), d.stale.size(), d.expired.size()};
  };
  EXPECT_EQ(waivers_of(WaiverState::kUsed), (std::vector<std::size_t>{1, 0, 0}));
  EXPECT_EQ(waivers_of(WaiverState::kUnexpectedPass), (std::vector<std::size_t>{0, 1, 0}));
  EXPECT_EQ(waivers_of(WaiverState::kExpired), (std::vector<std::size_t>{0, 0, 1}));
  EXPECT_EQ(waivers_of(WaiverState::kUnused), (std::vector<std::size_t>{0, 0, 0}));
}

}  // namespace
}  // namespace bic::report

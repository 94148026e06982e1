#include "harness/run/run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "harness/fake_worker/fake_run.h"
#include "results_schema/journal.h"

namespace bic {
namespace {

/// A folder of its own, removed at the end.
class Run : public testing::Test {
 protected:
  ~Run() override { std::filesystem::remove_all(folder_); }

  RunOptions options(const std::string& behaviour, const SelectionText& text) {
    RunOptions o;
    o.backend = fake::launch(behaviour, true);
    o.stock = fake::launch("honest", true);
    o.selection = make_selection(text);
    o.out = folder_ / std::to_string(runs_++);
    o.timed = false;
    o.command_line = "bi-conform of a test";
    return o;
  }

  struct Ended {
    int exit_code = -1;
    report::Report report;
    report::Journal journal;
  };

  Ended run(const RunOptions& o) {
    Ended e;
    e.exit_code = run_suite(o);
    e.report = report::load_report(o.out / "report.json");
    e.journal = report::read_journal(o.out / "journal.jsonl");
    return e;
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("bi-conform-run-test-" + std::to_string(getpid()));
  int runs_ = 0;
};

SelectionText product() {
  return {.ops = {"mm"}, .dtypes = {"fp32"}, .dims = "k=67,n=5", .batches = "1,3,9,33"};
}

SelectionText narrow() {
  return {.ops = {"mm"},
          .dtypes = {"fp32"},
          .relations = {"alone", "repeat", "fresh", "accuracy"},
          .batches = "1,3,9"};
}

std::set<std::string> case_names(const report::Report& report) {
  std::set<std::string> names;
  for (const report::CaseResult& c : report.cases) names.insert(c.case_name);
  return names;
}

TEST_F(Run, OfAnHonestWorkerConforms) {
  const Ended e = run(options("honest", product()));
  EXPECT_EQ(e.exit_code, 0) << e.report.verdict.text;
  EXPECT_EQ(
      e.report.verdict.text,
      fmt::format("BI-3 on 1 of {} ops (quick, filtered: not certifiable)", registry().size()));
  EXPECT_EQ(e.report.totals.cases[Status::kPass], e.report.totals.planned);
  EXPECT_EQ(e.report.coverage.counted, 6);
  EXPECT_EQ(e.report.coverage.executed, 6 + 16);
}

TEST_F(Run, WritesTotalsThatAddUpAndAJournalLineForEachCase) {
  const Ended e = run(options("by-batch", narrow()));
  EXPECT_EQ(e.exit_code, 1);
  EXPECT_EQ(e.report.totals.cases.sum(), e.report.totals.planned);
  EXPECT_EQ(e.report.cases.size(), static_cast<std::size_t>(e.report.totals.planned));
  std::vector<report::CaseResult> kept;
  for (const report::ProblemRecord& p : e.journal.problems) {
    kept.insert(kept.end(), p.cases.begin(), p.cases.end());
  }
  ASSERT_EQ(kept.size(), e.report.cases.size());
  for (std::size_t i = 0; i < e.report.cases.size(); ++i) {
    EXPECT_EQ(kept[i].case_name, e.report.cases[i].case_name);
    EXPECT_EQ(kept[i].status, e.report.cases[i].status);
  }
  EXPECT_EQ(e.report.ops.at(0).why, "alone failed");
  EXPECT_EQ(e.report.ops.at(0).level, Level::kRepeatable);
}

TEST_F(Run, GivesTheSameReportForTheSameSeed) {
  const auto first = run(options("by-batch", narrow())),
             second = run(options("by-batch", narrow()));
  EXPECT_EQ(fake::timeless(first.report), fake::timeless(second.report));
}

TEST_F(Run, GivesOtherCasesForAnotherSeed) {
  RunOptions other = options("honest", narrow());
  other.seed = Seed{0xb1c1};
  const auto names = case_names(run(other).report);
  for (const std::string& name : case_names(run(options("honest", narrow())).report)) {
    EXPECT_FALSE(names.contains(name)) << name;
  }
}

TEST_F(Run, CountsWhatNobodyClaimsAndMakesNothingForIt) {
  SelectionText text = narrow();
  text.ops = {"mm", "sum"};
  const Ended e = run(options("only-sum", text));
  ASSERT_EQ(e.report.ops.size(), 2u);
  for (const report::OpRow& row : e.report.ops) {
    const bool claimed = row.op == "sum";
    EXPECT_EQ(row.cases[Status::kUnsupported], claimed ? 0 : row.cases.sum()) << row.op;
    EXPECT_GT(row.cases.sum(), 0) << row.op;
    EXPECT_EQ(row.why == "not in the backend's manifest", !claimed) << row.op;
  }
  EXPECT_EQ(e.report.totals.cases.sum(), e.report.totals.planned);
  EXPECT_EQ(e.report.coverage.executed, e.report.coverage.planned);
  const report::Controls& all = e.report.controls;
  EXPECT_EQ(all.drawn, e.report.ops[1].problems.order + e.report.ops[1].problems.value);
  text.ops = {"sum"};
  EXPECT_EQ(run(options("only-sum", text)).report.controls.searched, all.searched);
}

TEST_F(Run, BeginsAnewInTheFolderOfOneThatWasCutAndSaysSo) {
  RunOptions o = options("honest", narrow());
  for (const bool cut : {true, false}) {
    o.budget = std::chrono::milliseconds(cut ? 0 : 600'000);
    testing::internal::CaptureStdout();
    run(o);
    EXPECT_EQ(testing::internal::GetCapturedStdout().find("begins anew") == std::string::npos, cut);
  }
  testing::internal::CaptureStdout();
  run(o);
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("begins anew"), std::string::npos);
}

TEST_F(Run, IsCutByItsBudgetAndSaysSo) {
  RunOptions o = options("honest", narrow());
  o.budget = std::chrono::milliseconds(0);
  const Ended e = run(o);
  EXPECT_EQ(e.exit_code, 3);
  EXPECT_FALSE(e.report.run.complete);
  EXPECT_THAT(e.report.run.incomplete_reason, testing::HasSubstr("out of budget"));
}

TEST_F(Run, TimesTheBytesThatItJudged) {
  RunOptions o = options("honest", narrow());
  o.timed = true;
  const Ended e = run(o);
  ASSERT_TRUE(e.report.ops.at(0).throughput);
  EXPECT_TRUE(e.report.ops.at(0).throughput->digest_matches);
  EXPECT_GT(e.report.ops.at(0).throughput->backend_ns, 0);
}

TEST_F(Run, EndsBeforeAnyVerdictWhereTheWorkerDoesNotStart) {
  EXPECT_THROW(run_suite(options("exits", narrow())), UsageError);
}

TEST_F(Run, RefusesAFolderThatCannotBeMade) {
  RunOptions o = options("honest", narrow());
  o.out = "/proc/no/such/folder";
  EXPECT_THROW(run_suite(o), UsageError);
}

TEST_F(Run, IsRepeatedCaseByCaseFromItsReport) {
  const Ended e = run(options("by-batch", narrow()));
  std::set<Status> seen;
  for (const report::CaseResult& c : e.report.cases) {
    if (!seen.insert(c.status).second) continue;
    const int code = reproduce(fake::launch("by-batch", true), c.case_name, "bi-conform");
    EXPECT_EQ(code, is_red(c.status) ? 1 : 0) << c.case_name;
  }
  EXPECT_TRUE(seen.contains(Status::kFail) && seen.contains(Status::kPass));
}

TEST_F(Run, RepeatsNoCaseWithAnotherNumberOfTrials) {
  const std::string pair = "mm.accuracy/fp32:k8,n1:B3@1#0~B1#0:fill=normal:s=0000000000000001";
  EXPECT_THAT([&] { reproduce(fake::launch("honest", true), pair, "bi-conform"); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("takes 1 of them")));
}

}  // namespace
}  // namespace bic

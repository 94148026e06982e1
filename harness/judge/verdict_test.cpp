#include "harness/judge/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bic {
namespace {

/// A finished report of some rows, each with `count` cases of one status.
report::Report report_of(const std::vector<std::tuple<std::string, Level, Status>>& rows) {
  report::Report report;
  report.run.complete = true;
  for (const auto& [op, level, status] : rows) {
    report.ops.push_back({.op = op, .dtype = DType::kBFloat16, .level = level, .why = "why"});
    report.totals.cases[status] += 2;
  }
  return report;
}

report::Verdict verdict(const report::Report& report, Level target = Level::kSchedule) {
  return make_verdict(report, target, 7);
}

constexpr auto kSchedule = Level::kSchedule;

TEST(MakeVerdict, HoldsTheLevelOfWhatIsClaimed) {
  auto report = report_of({{"mm", kSchedule, Status::kPass}, {"mm", Level::kNone, Status::kPass}});
  report.ops[1].cases[Status::kUnsupported] = 9;
  EXPECT_TRUE(verdict(report).conforms);
  EXPECT_EQ(verdict(report).text, "BI-3 on 1 of 7 ops (quick: not certifiable)");
  report.ops[1].cases[Status::kPass] = 1;
  EXPECT_FALSE(verdict(report).conforms) << "claimed, but short of the level";
}

TEST(MakeVerdict, ProvesNothingWhereNothingIsClaimed) {
  auto report = report_of({{"mm", Level::kNone, Status::kUnsupported}});
  report.ops[0].cases[Status::kUnsupported] = 2;
  EXPECT_EQ(verdict(report).exit_code, 3);
  EXPECT_EQ(verdict(report).text,
            "not proved: nothing of it is in the backend's manifest (quick: not certifiable)");
}

TEST(MakeVerdict, ConformsWhereEveryRowHoldsTheLevel) {
  const auto v =
      verdict(report_of({{"mm", kSchedule, Status::kPass}, {"sum", kSchedule, Status::kVacuous}}));
  EXPECT_TRUE(v.conforms);
  EXPECT_EQ(v.exit_code, 0);
  EXPECT_EQ(v.text, "BI-3 on 2 of 7 ops (quick: not certifiable)");
}

TEST(MakeVerdict, CertifiesACompleteUnfilteredStandardRunOnly) {
  auto report = report_of({{"mm", kSchedule, Status::kPass}});
  report.run.strength = "standard";
  EXPECT_TRUE(verdict(report).certifiable);
  EXPECT_EQ(verdict(report).text, "BI-3 on 1 of 7 ops (standard)");
  report.run.filtered = true;
  EXPECT_FALSE(verdict(report).certifiable);
  EXPECT_EQ(verdict(report).text, "BI-3 on 1 of 7 ops (filtered: not certifiable)");
}

TEST(MakeVerdict, CertifiesNoShard) {
  auto report = report_of({{"mm", kSchedule, Status::kPass}});
  report.run.strength = "standard";
  report.run.shard = report::Shard{.index = 2, .count = 4};
  EXPECT_EQ(verdict(report).exit_code, 0);
  EXPECT_FALSE(verdict(report).certifiable);
  EXPECT_EQ(verdict(report).text, "BI-3 on 1 of 7 ops (shard 2/4: not certifiable)");
}

TEST(MakeVerdict, CertifiesShardsOfOneKindOfMachineOnly) {
  auto report = report_of({{"mm", kSchedule, Status::kPass}});
  report.run.strength = "standard";
  report.shards.resize(2);
  EXPECT_TRUE(verdict(report).certifiable);
  report.shards[1].environment.kernel = "another";
  EXPECT_TRUE(verdict(report).certifiable);
  report.shards[1].environment.isa = "avx2";
  EXPECT_EQ(verdict(report).text, "BI-3 on 1 of 7 ops (different machines: not certifiable)");
}

report::CaseResult case_of(const std::string& id, Status status) {
  return {.case_name = "mm.repeat/bf16:k4,n4:B1#0,run=1~B1#0:fill=ones:s=0000000000000001:id=" + id,
          .status = status};
}

TEST(MakeVerdict, SaysWhichPublicReportsHold) {
  auto report = report_of({{"mm", kSchedule, Status::kPass}});
  report.run.suite = "public";
  report.run.filtered = true;
  report.cases = {case_of("c01", Status::kPass),
                  case_of("c03", Status::kPass),
                  case_of("c04", Status::kUnsupported)};
  EXPECT_EQ(verdict(report).text,
            "BI-3 on 1 of 7 ops (quick, suite public only: not certifiable); all 2 public reports "
            "hold");
  report.totals.cases[Status::kFail] = 1;
  report.cases.push_back(case_of("c03", Status::kFail));
  EXPECT_THAT(verdict(report).text, testing::EndsWith("; 1 of 2 public reports fail: c03"));
}

TEST(MakeVerdict, DoesNotConformWithOneRedCase) {
  for (Status red : {Status::kFail,
                     Status::kUnstable,
                     Status::kCrash,
                     Status::kTimeout,
                     Status::kBlocked,
                     Status::kRefused}) {
    const auto v =
        verdict(report_of({{"mm", Level::kBatch, red}, {"sum", kSchedule, Status::kPass}}));
    EXPECT_FALSE(v.conforms);
    EXPECT_EQ(v.exit_code, 1);
    EXPECT_EQ(v.level, Level::kBatch);
    EXPECT_EQ(v.text, "does not conform: 2 red cases; first mm bf16: why");
  }
}

TEST(MakeVerdict, DoesNotConformWithARedCaseBesideRowsThatHoldTheLevel) {
  EXPECT_EQ(verdict(report_of({{"mm", kSchedule, Status::kFail}})).exit_code, 1);
}

TEST(MakeVerdict, IsUnprovedWithoutRedAndWithoutTheLevel) {
  const auto v = verdict(report_of({{"mm", Level::kBatch, Status::kVacuous}}));
  EXPECT_EQ(v.exit_code, 3);
  EXPECT_EQ(v.text, "not proved: mm bf16: why (quick: not certifiable)");
}

TEST(MakeVerdict, IsUnprovedWhereNothingWasJudged) {
  const auto v = verdict(report_of({}));
  EXPECT_EQ(v.exit_code, 3);
  EXPECT_EQ(v.level, Level::kNone);
  EXPECT_THAT(v.text, testing::HasSubstr("nothing was judged"));
}

TEST(MakeVerdict, IsUnprovedWhereTheRunWasCut) {
  auto report = report_of({{"mm", kSchedule, Status::kPass}});
  report.run.complete = false;
  EXPECT_EQ(verdict(report).exit_code, 3);
  EXPECT_THAT(verdict(report).why_not_certifiable, testing::Contains("incomplete"));
}

TEST(MakeVerdict, PutsAnErrorOfTheHarnessBeforeRed) {
  auto report = report_of({{"mm", kSchedule, Status::kError}, {"sum", kSchedule, Status::kFail}});
  EXPECT_EQ(verdict(report).exit_code, 4);
  EXPECT_THAT(verdict(report).text, testing::HasSubstr("harness error: 2 cases"));
}

TEST(MakeVerdict, CoversAnOpOnlyWhereAllItsDtypesHoldTheLevel) {
  auto report = report_of({{"mm", kSchedule, Status::kPass}, {"sum", kSchedule, Status::kPass}});
  report.ops.push_back({.op = "sum", .dtype = DType::kFloat32, .level = Level::kBatch});
  EXPECT_EQ(verdict(report).ops_covered, 1);
  EXPECT_EQ(verdict(report, Level::kBatch).ops_covered, 2);
}

TEST(MakeVerdict, IsRedWhereATensorOfAModelIsBeyondItsBound) {
  auto report = report_of({{"pi0", kSchedule, Status::kPass}});
  report::ModelRow row{.model = "pi0", .preset = "tiny", .dtype = DType::kBFloat16};
  row.status = Status::kPass;
  report.models = {row};
  EXPECT_TRUE(verdict(report).conforms);
  report.models[0].status = Status::kFail;
  report.models[0].message = "1 of 3 tensors beyond the bound";
  EXPECT_EQ(verdict(report).exit_code, 1);
  EXPECT_EQ(verdict(report).text,
            "does not conform: 1 red cases; first pi0 tiny bf16: 1 of 3 tensors beyond the bound");
  report.models[0].status = Status::kError;
  EXPECT_EQ(verdict(report).exit_code, 4);
}

}  // namespace
}  // namespace bic

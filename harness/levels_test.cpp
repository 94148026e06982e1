#include "harness/levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "results_schema/error.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

using StatusOf = std::function<Status(std::string_view relation, int problem)>;

Status always_pass(std::string_view, int) { return Status::kPass; }

/// Status `other` for `relation`, pass for the rest.
StatusOf but(std::string_view relation, Status other) {
  return [=](std::string_view r, int) { return r == relation ? other : Status::kPass; };
}

/// One case of each required relation, or the one case of an accuracy problem.
Prepared problem_of_op(const OpSpec& op, Dims dims, bool accuracy) {
  Prepared p;
  p.problem = {.op = &op,
               .variant = &op.variants[0],
               .dtype = DType::kFloat32,
               .dims = std::move(dims),
               .attributes = {},
               .law = op.laws[0],
               .seed = {},
               .accuracy = accuracy};
  if (accuracy) {
    p.cases.push_back({.relation = kAccuracyRelation});
    return p;
  }
  for (const Relation& r : relations()) {
    if (r.required(op, op.variants[0])) p.cases.push_back({.relation = r.name, .level = r.level});
  }
  return p;
}

void add(Evidence& evidence, const Prepared& p, const StatusOf& status, int number) {
  std::vector<report::CaseResult> results;
  for (const Case& c : p.cases) results.push_back({.status = status(c.relation, number)});
  evidence.add(p, results);
}

struct Row {
  std::string op = "mm";
  Dims dims{{"k", 64}, {"n", 3}};
  int problems = 5;
  StatusOf status = always_pass;
  Status accuracy = Status::kPass;
  Level target = Level::kSchedule;

  report::OpRow make() const {
    const OpSpec& spec = *find_op(op);
    Evidence evidence(spec, DType::kFloat32);
    for (int i = 0; i < problems; ++i) {
      add(evidence, problem_of_op(spec, dims, false), status, i);
    }
    add(evidence, problem_of_op(spec, dims, true), but("accuracy", accuracy), 0);
    return evidence.row(target);
  }
};

TEST(Evidence, HoldsTheHighestLevelWithFiveProblemsOfEachRelation) {
  const report::OpRow row = Row().make();
  EXPECT_EQ(row.level, Level::kSchedule);
  EXPECT_EQ(row.why, "");
  EXPECT_EQ(row.problems.order, 5);
  EXPECT_EQ(row.problems.value, 1);
}

TEST(Evidence, ProvesNothingWithFourProblems) {
  const report::OpRow row = Row{.problems = 4}.make();
  EXPECT_EQ(row.level, Level::kNone);
  EXPECT_EQ(row.why, "repeat unproved");
}

TEST(Evidence, DropsToTheLevelBelowARedRelation) {
  const OpSpec& op = *find_op(Row().op);
  for (const Relation& r : relations()) {
    if (!r.required(op, op.variants[0])) continue;
    for (Status red : {Status::kFail,
                       Status::kUnstable,
                       Status::kCrash,
                       Status::kTimeout,
                       Status::kBlocked,
                       Status::kRefused}) {
      const report::OpRow row = Row{.status = but(r.name, red)}.make();
      EXPECT_EQ(static_cast<int>(row.level), static_cast<int>(r.level) - 1) << r.name;
      EXPECT_EQ(row.why, std::string(r.name) + " failed");
    }
  }
}

TEST(Evidence, IsNotSavedByTheOtherProblemsFromOneRed) {
  const StatusOf once = [](std::string_view r, int problem) {
    return r == "permute" && problem == 3 ? Status::kFail : Status::kPass;
  };
  const report::OpRow row = Row{.problems = 50, .status = once}.make();
  EXPECT_EQ(row.level, Level::kBatch);
  EXPECT_EQ(row.why, "permute failed");
}

TEST(Evidence, HoldsNoLevelWithAWrongValue) {
  const report::OpRow row = Row{.accuracy = Status::kFail}.make();
  EXPECT_EQ(row.level, Level::kNone);
  EXPECT_EQ(row.why, "accuracy failed");
}

TEST(Evidence, CountsAnErrorOfTheHarnessAsNotProved) {
  const report::OpRow row = Row{.status = but("alone", Status::kError)}.make();
  EXPECT_EQ(row.level, Level::kRepeatable);
}

TEST(Evidence, DoesNotCountAProblemWithAVacuousCase) {
  const StatusOf once = [](std::string_view r, int problem) {
    return r == "layout" && problem == 0 ? Status::kVacuous : Status::kPass;
  };
  const report::OpRow row = Row{.status = once}.make();
  EXPECT_EQ(row.level, Level::kBatch);
  EXPECT_EQ(row.why, "layout unproved");
  const report::OpRow more = Row{.problems = 6, .status = once}.make();
  EXPECT_EQ(more.level, Level::kSchedule);
}

TEST(Evidence, DoesNotAskForThreadsWhereNoRegionEverOpens) {
  EXPECT_EQ(Row{.status = but("threads", Status::kSkipped)}.make().level, Level::kSchedule);
}

TEST(Evidence, CountsAProblemInWhichNoRegionOpens) {
  const StatusOf once = [](std::string_view r, int problem) {
    return r == "threads" && problem > 0 ? Status::kSkipped : Status::kPass;
  };
  const report::OpRow row = Row{.status = once}.make();
  EXPECT_EQ(row.level, Level::kSchedule) << row.why;
}

TEST(Evidence, AsksForThreadsWhereTheWitnessIsWrong) {
  EXPECT_EQ(Row{.status = but("threads", Status::kVacuous)}.make().why, "threads unproved");
}

TEST(Evidence, DoesNotCountProblemsWhoseAxisIsTooShortToTell) {
  const report::OpRow row = Row{.dims = {{"k", 4}, {"n", 3}}, .problems = 50}.make();
  EXPECT_EQ(row.level, Level::kNone);
  EXPECT_EQ(row.problems.order, 0);
  EXPECT_EQ(row.problems.value, 51);
}

TEST(Evidence, DoesNotAskForRelationsThatTheOpHasNot) {
  const report::OpRow row = Row{.op = "layer_norm", .dims = {{"h", 64}}}.make();
  EXPECT_EQ(row.level, Level::kSchedule) << row.why;
  const std::set<std::string> absent{"forms", "pad", "zeropad", "chunk", "rank"};
  for (const report::RelationRow& r : row.relations) {
    EXPECT_EQ(r.required, !absent.contains(r.relation)) << r.relation;
  }
}

TEST(Evidence, StopsAtTheLevelAskedFor) {
  const Row row{.status = but("threads", Status::kFail), .target = Level::kBatch};
  EXPECT_EQ(row.make().level, Level::kBatch);
  EXPECT_EQ(row.make().why, "");
}

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

}  // namespace
}  // namespace bic

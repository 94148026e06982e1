#include "harness/judge/levels.h"

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

/// Of the op's first variant.
Cell cell_of(const OpSpec& op) {
  return {&op, DType::kFloat32, {{&op, &op.variants[0], DType::kFloat32}}};
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
    Evidence evidence(cell_of(spec));
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

TEST(Evidence, DoesNotAskForFormsOutsideTheManifest) {
  Prepared p = problem_of_op(*find_op("mm"), {{"k", 64}, {"n", 3}}, false);
  p.cases.push_back({.relation = "forms", .level = Level::kComposition});
  for (const Form form : {Form::kOut, Form::kChunk, Form::kVector, Form::kFunctional}) {
    Evidence evidence(cell_of(*find_op("mm")));
    for (Case& c : p.cases) c.named.form = c.relation == "forms" ? form : Form::kFunctional;
    for (int i = 0; i < 5; ++i) {
      std::vector<report::CaseResult> results;
      for (const Case& c : p.cases) {
        results.push_back({.status = c.relation == "forms" ? Status::kUnsupported : Status::kPass});
      }
      evidence.add(p, results);
    }
    const report::OpRow row = evidence.row(Level::kSchedule);
    EXPECT_EQ(row.why, form == Form::kFunctional ? "forms unproved" : "");
  }
}

TEST(Evidence, CountsTheClaimedFormsOfAProblem) {
  Prepared p = problem_of_op(*find_op("mm"), {{"k", 64}, {"n", 3}}, false);
  p.cases.push_back({.relation = "forms", .level = Level::kComposition});
  Evidence evidence(cell_of(*find_op("mm")));
  for (int i = 0; i < 5; ++i) {
    std::vector<report::CaseResult> results(p.cases.size(), {.status = Status::kPass});
    results.back().status = Status::kUnsupported;
    evidence.add(p, results);
  }
  const report::OpRow row = evidence.row(Level::kSchedule);
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

}  // namespace
}  // namespace bic

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/fake_worker/fake_run.h"
#include "harness/judge/judging.h"
#include "harness/judge/levels.h"
#include "harness/judge/verdict.h"
#include "harness/plan/case_check.h"
#include "harness/shrink/shrink.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WorkerLaunch against(const std::string& behaviour, const std::string& peer) {
  WorkerLaunch launch = fake::launch(behaviour, true);
  launch.peer = std::make_shared<const WorkerLaunch>(fake::launch(peer, true));
  return launch;
}

SelectionText product() {
  return {.ops = {"mm"},
          .dtypes = {"fp32"},
          .relations = {"peer"},
          .dims = "k=67,n=5",
          .batches = "1,3,33",
          .has_peer = true};
}

/// The cases of `peer` of one product.
struct Compared {
  std::unique_ptr<Prepared> prepared;
  Promise promise;
  std::vector<report::CaseResult> cases;

  std::set<Status> statuses() const {
    std::set<Status> all;
    for (const auto& c : cases) all.insert(c.status);
    return all;
  }
};

/// Of an honest worker and a peer with that behaviour.
Compared compare_with(const std::string& peer, bool told_apart = true) {
  Stage stage(against("honest", peer));
  Compared c{.prepared = fake::first_problem(product()), .promise = {}, .cases = {}};
  c.prepared->telling.told_apart = told_apart;
  c.promise = *promise_of(stage, "mm", DType::kFloat32);
  c.cases = run_and_judge(stage, *c.prepared, c.promise).cases;
  EXPECT_GE(c.cases.size(), 3u);
  return c;
}

bool is_large(const report::CaseResult& c) { return c.case_name.find(":B33") != std::string::npos; }

TEST(Peer, ThatDoesTheSameSumsAgrees) {
  EXPECT_THAT(compare_with("honest").statuses(), ElementsAre(Status::kPass));
}

TEST(Peer, ThatSumsInAnotherOrderFailsByBits) {
  const Compared c = compare_with("pairwise");
  EXPECT_TRUE(c.statuses().contains(Status::kFail));
  for (const auto& r : c.cases) {
    if (r.status == Status::kPass) continue;
    EXPECT_THAT(r.reasons, ElementsAre(Reason::kBits));
  }
}

TEST(Peer, ThatDiffersInSomeBatchesFailsInThose) {
  for (const auto& r : compare_with("by-batch").cases) {
    EXPECT_EQ(r.status, is_large(r) ? Status::kFail : Status::kPass) << r.case_name;
  }
}

TEST(Peer, ThatDiesBlocksWhatItWasToAnswer) {
  for (const auto& r : compare_with("crashes-at-33").cases) {
    EXPECT_EQ(r.status, is_large(r) ? Status::kBlocked : Status::kPass) << r.case_name;
    if (!is_large(r)) continue;
    EXPECT_THAT(r.detail->message, HasSubstr("worker=2 did not run to its end: killed by sig"));
  }
}

TEST(Peer, IsNotJudgedByTheBound) {
  const Compared c = compare_with("inaccurate");
  EXPECT_THAT(c.statuses(), ElementsAre(Status::kFail));
  for (const auto& r : c.cases) EXPECT_THAT(r.reasons, ElementsAre(Reason::kBits));
}

TEST(Peer, MustRunItsOwnOverloads) {
  const Compared c = compare_with("not-called");
  EXPECT_THAT(c.statuses(), ElementsAre(Status::kFail));
  EXPECT_THAT(c.cases[0].reasons, ElementsAre(Reason::kNotCalled));
  EXPECT_THAT(c.cases[0].detail->message, HasSubstr("the peer's own"));
}

TEST(Peer, IsNotAskedForAnOpThatItDoesNotClaim) {
  const Compared c = compare_with("only-sum");
  EXPECT_EQ(c.promise.peer, nullptr);
  EXPECT_THAT(c.statuses(), ElementsAre(Status::kUnsupported));
}

TEST(Peer, WhoseAgreementCouldNotHaveBeenOtherwiseProvesNothing) {
  EXPECT_THAT(compare_with("honest", false).statuses(), ElementsAre(Status::kVacuous));
}

TEST(Peer, FailuresAreMadeSmall) {
  const Compared c = compare_with("by-batch");
  const auto found = std::ranges::find_if(c.cases, is_large);
  Shrinker shrinker(against("honest", "by-batch"));
  const report::Failure f = shrinker.shrink(*c.prepared, c.cases, *found, c.promise);
  EXPECT_EQ(f.note, "");
  EXPECT_THAT(f.shrunk.case_name, HasSubstr("mm.peer/fp32:k"));
  EXPECT_THAT(f.shrunk.case_name, HasSubstr(":B8#"));
  EXPECT_THAT(f.shrunk.case_name, HasSubstr(",worker=2:"));
  EXPECT_EQ(f.relations.back().relation, "peer");
  EXPECT_EQ(f.relations.back().status, Status::kFail);
}

TEST(Peer, StandsInCasesOfItsRelationOnly) {
  const auto check = [](const std::string& relation, const std::string& trials) {
    check_case(parse_case_name("mm." + relation + "/fp32:k67,n5:" + trials +
                               ":fill=normal:s=0000000000000001"));
  };
  EXPECT_NO_THROW(check("peer", "B3#0~B3#0,worker=2"));
  EXPECT_THROW(check("peer", "B3#0~B1#0,worker=2"), UsageError) << "another trial";
  EXPECT_THROW(check("peer", "B3#0~B1#0"), UsageError) << "no peer";
  EXPECT_THROW(check("peer", "B3#0,worker=2~B3#0"), UsageError) << "the other way round";
  EXPECT_THROW(check("fresh", "B3#0,worker=2~B3#0"), UsageError);
  EXPECT_THROW(check("accuracy", "B3#0,worker=2"), UsageError);
}

/// The row of five problems whose cases of `peer` have that status; all others pass.
report::OpRow row_with(Status peer) {
  const OpSpec& op = *find_op("mm");
  Cell cell{&op, DType::kFloat32, {}};
  cell.problems.push_back({&op, &op.variants[0], DType::kFloat32, Law::kNormal, 0});
  Prepared p;
  p.problem = {.op = &op,
               .variant = &op.variants[0],
               .dtype = DType::kFloat32,
               .dims = {{"k", 64}, {"n", 3}}};
  p.telling.told_apart = true;
  for (const Relation& r : relations()) {
    if (r.required(op, op.variants[0])) p.cases.push_back({.relation = r.name});
  }
  p.cases.push_back({.relation = peer_relation().name});
  std::vector<report::CaseResult> results(p.cases.size(), {.status = Status::kPass});
  results.back().status = peer;
  Evidence evidence(cell);
  for (int i = 0; i < 5; ++i) evidence.add(p, results);
  return evidence.row(Level::kSchedule);
}

report::Verdict verdict_with(Status peer) {
  report::Report report;
  report.run.complete = true;
  report.peer = report::Subject{.backend = "other"};
  report.ops = {row_with(peer)};
  report.totals.cases = report.ops[0].cases;
  return make_verdict(report, Level::kSchedule, 7);
}

TEST(Peer, ChangesNoLevel) {
  for (const Status s : {Status::kPass, Status::kFail, Status::kVacuous, Status::kUnsupported}) {
    EXPECT_EQ(row_with(s).level, Level::kSchedule) << name(s);
  }
  EXPECT_EQ(row_with(Status::kPass).why, "");
  EXPECT_EQ(row_with(Status::kFail).why, "peer failed");
  EXPECT_EQ(row_with(Status::kVacuous).why, "peer unproved");
  EXPECT_EQ(row_with(Status::kUnsupported).why, "");
}

TEST(Peer, DecidesTheVerdict) {
  EXPECT_EQ(verdict_with(Status::kPass).exit_code, 0);
  EXPECT_THAT(verdict_with(Status::kPass).text, HasSubstr("; the same bits as other on 1 op"));
  EXPECT_EQ(verdict_with(Status::kFail).exit_code, 1);
  EXPECT_EQ(verdict_with(Status::kVacuous).exit_code, 3);
  EXPECT_THAT(verdict_with(Status::kVacuous).text, HasSubstr("mm fp32: peer unproved"));
  EXPECT_EQ(verdict_with(Status::kUnsupported).exit_code, 3);
  EXPECT_THAT(verdict_with(Status::kUnsupported).text, HasSubstr("no op is both in the"));
}

}  // namespace
}  // namespace bic

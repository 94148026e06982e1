#include "harness/run/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/fake_worker/fake_run.h"
#include "harness/run/shard_plan.h"
#include "harness/workers/environment.h"
#include "results_schema/signing/refusal.h"

namespace bic {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;

constexpr Seed kDraw{7};
constexpr Seed kRun{0xb1c0};

/// What a run of some cases of `mm` on an honest backend reports.
report::Report small_report(const std::string& dims = "k=67,n=5") {
  const WorkerLaunch honest = fake::launch("honest", true);
  const auto judged = fake::judge_all(fake::first_problem({.ops = {"mm"},
                                                           .dtypes = {"fp32"},
                                                           .relations = {"alone", "layout"},
                                                           .dims = dims,
                                                           .batches = "1,3,9"}),
                                      honest);
  Stage stage(honest);
  report::Report r;
  r.suite.version = suite_version();
  r.subject = describe_subject(stage.hello());
  r.environment = describe_environment(stage.hello().default_threads);
  r.run.seed = kRun;
  r.run.filtered = true;
  r.cases = judged.results;
  return r;
}

Replayed replay_all(const report::Report& r, const char* behaviour = "honest") {
  return replay(r, 1000, kDraw, fake::launch(behaviour, true));
}

std::string refusal_of(const report::Report& r, const char* behaviour = "honest") {
  try {
    replay_all(r, behaviour);
    return "";
  } catch (const signing::Refusal& refusal) {
    return refusal.what();
  }
}

TEST(Replay, FindsAnHonestReportAsItIs) {
  const report::Report r = small_report();
  const Replayed replayed = replay_all(r);
  EXPECT_EQ(replayed.cases, static_cast<std::int64_t>(r.cases.size()));
  EXPECT_EQ(replayed.bits, "");
  EXPECT_EQ(replay(r, 3, kDraw, fake::launch("honest", true)).cases, 3);
}

TEST(Replay, KnowsASampleByTheDigestOfItsInputs) {
  const std::string inputs = small_report().cases.at(0).inputs;
  EXPECT_THAT(small_report().cases, Each(Field(&report::CaseResult::inputs, inputs)));
  EXPECT_NE(small_report("k=68,n=5").cases.at(0).inputs, inputs);
}

TEST(Replay, RefusesEachKindOfInvention) {
  const std::pair<void (*)(report::CaseResult&), const char*> inventions[] = {
      {[](report::CaseResult& c) { c.inputs = std::string(64, '0'); }, "the digest of the inputs"},
      {[](report::CaseResult& c) { c.inputs.clear(); }, "no digest of inputs"},
      {[](report::CaseResult& c) { c.status = Status::kVacuous; }, "the status is 'vacuous'"},
      {[](report::CaseResult& c) { c.digest = std::string(64, '0'); }, "the digest of the output"}};
  for (const auto& [invent, part] : inventions) {
    report::Report r = small_report();
    invent(r.cases[r.cases.size() / 2]);
    EXPECT_THAT(refusal_of(r), HasSubstr(part));
  }
}

TEST(Replay, ComparesBitsOnTheSameKindOfMachineOnly) {
  report::Report r = small_report();
  r.cases[0].digest = std::string(64, '0');
  report::Report other = r;
  other.environment.isa = "sse2";
  EXPECT_THAT(replay_all(other).bits, HasSubstr("the ISA is 'sse2' there"));
  other = r;
  other.subject.device = "cuda:0 H200";
  EXPECT_THAT(replay_all(other).bits, HasSubstr("the device is cuda:0 H200 there"));
  other = r;
  other.subject.libraries.push_back({"more.so", std::string(64, 'f'), 1});
  EXPECT_EQ(replay_all(other).bits, "the backend's libraries differ");
}

TEST(Replay, OfTheWholeSuiteMissesWhatWasLeftOut) {
  report::Report r = small_report();
  r.run.filtered = false;
  r.run.plan = std::string(64, '0');
  EXPECT_THAT(refusal_of(r), HasSubstr("plan is not the suite's of its seed"));
  r.run.plan = plan_run(make_selection({}), Strength::kQuick, kRun, {}).digest;
  r.cases.clear();
  try {
    replay(r, 60, kDraw, fake::launch("honest", true));
    ADD_FAILURE() << "accepted";
  } catch (const signing::Refusal& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr("has not got a case of its plan"));
  }
}

TEST(Replay, NeedsTheSuiteOfTheReport) {
  report::Report r = small_report();
  r.suite.version = "0.0.9";
  EXPECT_THROW(replay_all(r), UsageError);
}

}  // namespace
}  // namespace bic

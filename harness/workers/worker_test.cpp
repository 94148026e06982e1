#include "harness/workers/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/fake_worker/fake_run.h"
#include "harness/plan/pool.h"

namespace bic {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string start_error(const WorkerLaunch& launch) {
  try {
    Worker worker(launch);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "it started";
}

std::unique_ptr<Prepared> product() {
  return fake::first_problem({.ops = {"mm"},
                              .dtypes = {"fp32"},
                              .relations = {"alone"},
                              .dims = "k=67,n=5",
                              .batches = "1,33"});
}

protocol::TrialMessage batch_of_33(const Prepared& p) {
  for (const Case& c : p.cases) {
    if (c.trial.trial.batch == 33) return p.pool->request(c.trial);
  }
  return {};
}

Death death_of(Worker& worker) {
  const auto p = product();
  EXPECT_FALSE(worker.load(p->pool->problem(), p->pool->samples()));
  const auto answer = worker.run(batch_of_33(*p));
  const Death* death = std::get_if<Death>(&answer);
  return death == nullptr ? Death{Status::kPass, {}, "it lives"} : *death;
}

class AnyWorker : public testing::TestWithParam<bool> {};

TEST_P(AnyWorker, GivesItsManifestBeforeAnyInput) {
  Worker worker(fake::launch("honest", GetParam()));
  EXPECT_EQ(worker.hello().backend, "honest");
  EXPECT_EQ(worker.hello().manifest.size(), registry().size());
}

TEST_P(AnyWorker, TurnsAThrownErrorIntoAnAnswer) {
  Worker worker(fake::launch("throws", GetParam()));
  const auto p = product();
  ASSERT_FALSE(worker.load(p->pool->problem(), p->pool->samples()));
  for (int i = 0; i < 2; ++i) {  // it goes on living
    const auto answer = worker.run(batch_of_33(*p));
    const auto& reply = std::get<protocol::TrialReply>(answer);
    EXPECT_EQ(reply.outcome, protocol::Outcome::kException);
    EXPECT_EQ(reply.message, "out of ideas");
  }
}

TEST_P(AnyWorker, SaysWhenItsLibraryIsNotThere) {
  WorkerLaunch launch = fake::launch("honest", GetParam());
  launch.library = "/no/such/library.so";
  EXPECT_THAT(start_error(launch), HasSubstr("'honest' did not start"));
}

INSTANTIATE_TEST_SUITE_P(Isolation, AnyWorker, testing::Bool(), [](const auto& info) {
  return info.param ? "process" : "none";
});

TEST(WorkerProcess, NamesTheLibraryThatItCannotLoad) {
  WorkerLaunch launch = fake::launch("honest", true);
  launch.library = "/no/such/library.so";
  EXPECT_THAT(start_error(launch),
              AllOf(HasSubstr("exited with code 2"), HasSubstr("/no/such/library.so")));
}

TEST(WorkerProcess, NamesTheCodeWithWhichItEndsAtItsStart) {
  EXPECT_THAT(start_error(fake::launch("exits", true)), HasSubstr("exited with code 7"));
}

TEST(WorkerProcess, PassesOnItsLastWords) {
  EXPECT_THAT(start_error(fake::launch("no-such", true)), HasSubstr("no behaviour 'no-such'"));
}

TEST(WorkerProcess, SaysWhenItsProgramCannotBeStarted) {
  WorkerLaunch launch = fake::launch("honest", true);
  launch.program = "/no/such/program";
  EXPECT_THAT(start_error(launch), HasSubstr("exited with code 127"));
}

/// A worker in shell that answers the first request with `text`, of `length` bytes in octal.
WorkerLaunch answering(const std::string& length, const std::string& text) {
  WorkerLaunch launch = fake::launch("shell", true);
  launch.program = "/bin/sh";
  launch.arguments = {
      "sh", "-c", "printf '\\" + length + "\\0\\0\\0%s' '" + text + "' >&3; cat <&3 >&2"};
  return launch;
}

TEST(WorkerProcess, MayBeAnotherProgramThatSpeaksTheProtocol) {
  EXPECT_THAT(start_error(answering("15", R"({"version":1})")),
              HasSubstr("speaks protocol version 1; this program speaks 4"));
  EXPECT_THAT(start_error(answering("20", R"({"error":"bad"} )")), HasSubstr("not start: bad"));
}

TEST(WorkerProcess, ThatAnswersSomethingElseIsNamed) {
  EXPECT_THAT(start_error(answering("2", "[]")), HasSubstr("malformed manifest"));
  EXPECT_THAT(start_error(answering("15", R"({"version":4})")), HasSubstr("malformed manifest"));
  EXPECT_THAT(start_error(answering("2", "no")), HasSubstr("a frame is not JSON"));
}

TEST(WorkerProcess, OfAnotherProgramIsNeverAThread) {
  WorkerLaunch launch = answering("2", "{}");
  launch.isolated = false;
  EXPECT_THAT(start_error(launch), HasSubstr("--isolation none"));
}

TEST(WorkerProcess, NamesTheSignalThatKilledIt) {
  Worker worker(fake::launch("crashes-at-33", true));
  const Death death = death_of(worker);
  EXPECT_EQ(death.status, Status::kCrash);
  EXPECT_EQ(death.reason, Reason::kSignal);
  EXPECT_THAT(death.message, HasSubstr("killed by signal 11"));
}

TEST(WorkerProcess, StaysDead) {
  Worker worker(fake::launch("crashes-at-33", true));
  death_of(worker);
  EXPECT_TRUE(std::holds_alternative<Death>(worker.run({})));
}

TEST(WorkerProcess, IsKilledWhenItHangs) {
  WorkerLaunch launch = fake::launch("hangs-at-33", true);
  launch.timeout = std::chrono::seconds(1);
  Worker worker(launch);
  const auto before = std::chrono::steady_clock::now();
  const Death death = death_of(worker);
  EXPECT_EQ(death.status, Status::kTimeout);
  EXPECT_FALSE(death.reason);
  EXPECT_THAT(death.message, HasSubstr("no answer within 1000 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
}

}  // namespace
}  // namespace bic

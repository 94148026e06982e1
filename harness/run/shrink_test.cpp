#include "harness/shrink/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/fake_worker/fake_run.h"
#include "harness/run/run.h"
#include "harness/shrink/shrink_search.h"

namespace bic {
namespace {

/// A problem judged on the fake worker, and what a run would make of its failures.
struct Shrunk {
  fake::Judged judged;
  std::vector<report::Failure> failures;

  const report::CaseResult& case_named(const std::string& name) const {
    return *std::ranges::find(judged.results, name, &report::CaseResult::case_name);
  }
};

SelectionText product(std::vector<std::string> relations = {}) {
  return {.ops = {"mm"},
          .dtypes = {"fp32"},
          .relations = std::move(relations),
          .dims = "k=67,n=5",
          .batches = "1,3,9,33"};
}

Promise promise_from(const WorkerLaunch& launch) {
  return *promise_of(Stage(launch).hello(), "mm", DType::kFloat32);
}

Shrunk shrunk(const std::string& behaviour, const SelectionText& text, bool accuracy = false) {
  const WorkerLaunch launch = fake::launch(behaviour, true);
  Shrunk s{fake::judge_all(fake::first_problem(text, accuracy), launch), {}};
  Shrinker shrinker(launch);
  Failures failures(&shrinker, [] { return false; });
  s.failures = failures.of(*s.judged.prepared, s.judged.results, promise_from(launch));
  return s;
}

int repeat(const std::string& behaviour, const std::string& case_name) {
  return reproduce(fake::launch(behaviour, true), case_name, "bi-conform");
}

TEST(Shrinking, FindsTheSmallestCaseOfASplitByBatch) {
  const Shrunk s = shrunk("by-batch", product());
  ASSERT_EQ(s.failures.size(), 1u) << "twins fail too, for the same cause";
  const report::Failure& f = s.failures[0];
  EXPECT_EQ(f.note, "");
  EXPECT_EQ(s.case_named(f.found).status, Status::kFail);
  const CaseName name = parse_case_name(f.shrunk.case_name);
  EXPECT_EQ(name.relation, "alone");
  EXPECT_EQ(name.trials[0], (Trial{.batch = 8, .sample = name.trials[0].sample}));
  // Two products add up the same in either order; and so do three of the samples that are tried.
  EXPECT_EQ(name.dims, (Dims{{"k", 4}, {"n", 1}})) << f.shrunk.case_name;
  EXPECT_EQ(name.fill, Law::kUniform) << "sums of ones and of small integers are exact";
  EXPECT_EQ(f.shrunk.detail->starts_at_batch, 8);
  EXPECT_EQ(f.classes, (std::vector<std::vector<std::int64_t>>{{1, 3}, {8, 9, 33}}));
}

TEST(Shrinking, SaysWhichRelationsHoldOnTheSmallProblem) {
  const Shrunk s = shrunk("by-batch", product({"alone"}));
  std::set<std::string> red, held;
  for (const report::RelationOutcome& r : s.failures.at(0).relations) {
    if (is_red(r.status)) red.insert(r.relation);
    if (r.status == Status::kPass) held.insert(r.relation);
  }
  EXPECT_EQ(red, (std::set<std::string>{"alone", "twins"}));
  EXPECT_THAT(held, testing::IsSupersetOf({"accuracy", "repeat", "permute", "neighbours"}));
}

TEST(Shrinking, CountsItsOwnCaseAmongThoseThatFail) {
  // No case of `layout` shifts the one sample of a batch of its own on every problem; this one
  // does.
  const Shrunk s = shrunk("by-strides", product({"layout"}));
  const auto& relations = s.failures.at(0).relations;
  const auto at = std::ranges::find(relations, "layout", &report::RelationOutcome::relation);
  EXPECT_EQ(at->status, Status::kFail);
  EXPECT_EQ(s.failures[0].shrunk.detail->starts_at_batch, std::nullopt) << "not by the batch";
}

TEST(Shrinking, GivesTheSameCaseTwice) {
  const report::Failure a = shrunk("by-batch", product()).failures.at(0),
                        b = shrunk("by-batch", product()).failures.at(0);
  EXPECT_EQ(a.shrunk.case_name, b.shrunk.case_name);
  EXPECT_EQ(a.shrunk.digest, b.shrunk.digest);
  EXPECT_EQ(a.trials, b.trials);
}

TEST(Shrinking, KeepsThePlaceThatMatters) {
  const Shrunk s = shrunk("last-position", product({"alone"}));
  const Trial t = parse_case_name(s.failures.at(0).shrunk.case_name).trials[0];
  EXPECT_EQ(t.batch, 2);
  EXPECT_EQ(t.position, 1);
}

struct Way {
  std::string behaviour, relation;
  std::optional<Reason> reason;
};

class EveryWayToFail : public testing::TestWithParam<Way> {};

TEST_P(EveryWayToFail, IsMadeSmallerAndFailsTheSameWayAgain) {
  const Way& way = GetParam();
  const bool accuracy = way.relation == "accuracy";
  const Shrunk s = shrunk(way.behaviour, product({way.relation}), accuracy);
  const auto at = std::ranges::find_if(s.failures, [&](const report::Failure& f) {
    return s.case_named(f.found).reasons.empty() ? !way.reason
                                                 : s.case_named(f.found).reasons[0] == way.reason;
  });
  ASSERT_NE(at, s.failures.end());
  const report::Failure& f = *at;
  EXPECT_EQ(f.note, "");
  EXPECT_TRUE(fails_alike(f.shrunk, s.case_named(f.found)));
  const CaseName found = parse_case_name(f.found), small = parse_case_name(f.shrunk.case_name);
  EXPECT_LT(small.dims.at("k"), found.dims.at("k"));
  EXPECT_LE(small.trials[0].batch, found.trials[0].batch);
  EXPECT_EQ(repeat(way.behaviour, f.shrunk.case_name), 1);
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         EveryWayToFail,
                         testing::Values(Way{"by-copy", "twins", Reason::kBits},
                                         Way{"by-strides", "layout", Reason::kBits},
                                         Way{"by-form", "forms", Reason::kBits},
                                         Way{"by-threads", "threads", Reason::kBits},
                                         Way{"by-padding", "zeropad", Reason::kBits},
                                         Way{"nan-payload", "alone", Reason::kNanBits},
                                         Way{"nan-leak", "neighbours", Reason::kBits},
                                         Way{"inaccurate", "accuracy", Reason::kAccuracy},
                                         Way{"wrong-shape", "alone", Reason::kShape},
                                         Way{"wrong-dtype", "alone", Reason::kDtype},
                                         Way{"unwritten", "alone", Reason::kStaleOutput},
                                         Way{"input-changed", "alone", Reason::kInputChanged},
                                         Way{"out-of-bounds", "alone", Reason::kOutOfBounds},
                                         Way{"not-called", "alone", Reason::kNotCalled},
                                         Way{"refuses", "alone", {}},
                                         Way{"throws", "alone", Reason::kException}),
                         [](const auto& info) {
                           std::string name = info.param.behaviour;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Shrinking, RunsNoMoreTrialsThanItMay) {
  const WorkerLaunch launch = fake::launch("by-batch", true);
  const auto judged = fake::judge_all(fake::first_problem(product({"alone"})), launch);
  const report::CaseResult found = judged.with(Status::kFail).at(0);
  const Promise promise = promise_from(launch);
  Stage stage(launch);
  std::set<std::string> smallest;
  for (const int most : {12, kMostShrinkTrials}) {
    ShrinkSearch search(stage, promise, found, most);
    search.run();
    EXPECT_LE(search.trials(), most);
    EXPECT_GE(search.trials(), 10);
    EXPECT_EQ(repeat("by-batch", to_string(search.smallest())), 1) << "cut, yet a failure";
    smallest.insert(to_string(search.smallest()));
  }
  EXPECT_EQ(smallest.size(), 2u) << "more trials lead further";
}

/// The failure is shown as found, with a note that has `part`.
void expect_as_found(const report::Failure& f, const Shrunk& s, const std::string& part) {
  EXPECT_EQ(f.shrunk.case_name, f.found);
  EXPECT_EQ(f.shrunk.digest, s.case_named(f.found).digest);
  EXPECT_THAT(f.note, testing::HasSubstr(part));
}

TEST(AsFound, IsWhatDoesNotFailAgainAlone) {
  // The second worker saw the sample in another order, which two trials alone do not bring about.
  const Shrunk s = shrunk("by-first-sight", product({"fresh", "alone"}));
  ASSERT_EQ(s.failures.size(), 1u);
  expect_as_found(s.failures[0], s, "does not fail again");
  EXPECT_LE(s.failures[0].trials, 2);
}

TEST(AsFound, IsWhatIsNoise) {
  const Shrunk s = shrunk("noisy", product({"alone"}));
  const auto at = std::ranges::find_if(s.failures, [&](const report::Failure& f) {
    return s.case_named(f.found).status == Status::kUnstable;
  });
  ASSERT_NE(at, s.failures.end());
  expect_as_found(*at, s, "identical runs");
  EXPECT_EQ(at->trials, 0);
}

TEST(AsFound, IsWhatKillsTheWorker) {
  const Shrunk s = shrunk("crashes-at-33", product({"alone"}));
  ASSERT_EQ(s.failures.size(), 1u);
  expect_as_found(s.failures[0], s, "cost a worker");
  EXPECT_EQ(s.failures[0].trials, 0);
}

TEST(AsFound, IsWhatFailsInAWarmWorkerOnly) {
  const WorkerLaunch launch = fake::launch("by-batch-once-warm", true);
  const Promise promise = promise_from(launch);
  SelectionText text = product({"alone"});
  text.batches.clear();  // so that most of them are run when the worker is warm
  const Shrunk s{fake::judge_all(fake::first_problem(text), launch), {}};
  const report::CaseResult found = s.judged.with(Status::kFail).at(0);
  Shrinker shrinker(launch);
  std::string note;
  for (int i = 0; i < 3; ++i) {  // each runs two trials on the shrinker's worker
    const auto f = shrinker.shrink(*s.judged.prepared, s.judged.results, found, promise);
    expect_as_found(f, s, "does not fail");
    note = f.note;
  }
  EXPECT_EQ(note, "what is smaller does not fail in a new worker");
}

TEST(AsFound, IsEverythingWhereNothingSmallerIsWanted) {
  const WorkerLaunch launch = fake::launch("by-batch", true);
  const Promise promise = promise_from(launch);
  Shrunk s{fake::judge_all(fake::first_problem(product({"alone"})), launch), {}};
  for (const bool cut : {false, true}) {
    Shrinker shrinker(launch);
    Failures failures(cut ? &shrinker : nullptr, [] { return true; });
    s.failures = failures.of(*s.judged.prepared, s.judged.results, promise);
    ASSERT_EQ(s.failures.size(), 1u);
    expect_as_found(s.failures[0], s, cut ? "cut" : "asked for");
    EXPECT_EQ(s.failures[0].classes, (std::vector<std::vector<std::int64_t>>{{1, 3}, {9, 33}}));
  }
}

TEST(Failures, NameAWrongValueOnceWhateverTheRelation) {
  const Shrunk s = shrunk("inaccurate", product({"alone", "permute", "layout"}));
  ASSERT_EQ(s.failures.size(), 1u);
  for (const report::RelationOutcome& r : s.failures[0].relations) {
    // The worker drops the last term, which is another one where zeros are appended.
    EXPECT_EQ(is_red(r.status), r.relation == "accuracy" || r.relation == "zeropad") << r.relation;
  }
}

}  // namespace
}  // namespace bic

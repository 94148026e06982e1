// Problems, sweeps and verdicts together, on a worker that is wrong in one way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/fake_worker/fake_run.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

using fake::Judged;
using testing::HasSubstr;

SelectionText product(std::vector<std::string> relations = {}, const std::string& batches = "") {
  return {.ops = {"mm"},
          .dtypes = {"fp32"},
          .relations = std::move(relations),
          .dims = "k=67,n=5",
          .batches = batches};
}

Judged judged(const std::string& behaviour, const SelectionText& text, bool isolated = true) {
  return fake::judge_all(fake::first_problem(text), fake::launch(behaviour, isolated));
}

constexpr auto kAttention = "scaled_dot_product_attention";

struct Subject {
  std::string op, dtype, dims;
};

class HonestWorker : public testing::TestWithParam<Subject> {};

TEST_P(HonestWorker, PassesEveryRelationInAProcess) {
  const Subject& s = GetParam();
  const Judged j = judged("honest", {.ops = {s.op}, .dtypes = {s.dtype}, .dims = s.dims});
  EXPECT_EQ(j.with(Status::kPass).size(), j.results.size());
  EXPECT_GE(j.results.size(), 40u);
}

TEST_P(HonestWorker, PassesEveryRelationButFreshInAThread) {
  const Subject& s = GetParam();
  const Judged j = judged("honest", {.ops = {s.op}, .dtypes = {s.dtype}, .dims = s.dims}, false);
  for (std::size_t i = 0; i < j.results.size(); ++i) {
    const bool fresh = j.prepared->cases[i].relation == "fresh";
    EXPECT_EQ(j.results[i].status, fresh ? Status::kVacuous : Status::kPass)
        << j.results[i].case_name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops,
                         HonestWorker,
                         testing::Values(Subject{"mm", "fp32", "k=67,n=5"},
                                         Subject{"mm", "bf16", "k=67,n=5"},
                                         Subject{"softmax", "fp32", "h=203"},
                                         Subject{"log_softmax", "bf16", "h=203"},
                                         Subject{"gelu", "fp32", "h=33"},
                                         Subject{"gelu", "bf16", ""}),
                         [](const auto& info) { return info.param.op + "_" + info.param.dtype; });

/// A behaviour that one relation alone sees: without that relation the run is green.
struct Sole {
  std::string relation, behaviour;
  std::string op = "mm", variant = "";

  SelectionText text(std::vector<std::string> relations = {}) const {
    if (op == "mm") return product(std::move(relations));
    return {.ops = {op},
            .dtypes = {"fp32"},
            .relations = std::move(relations),
            .case_pattern = "^" + op + (variant.empty() ? "" : "-" + variant) + "[.]"};
  }
};

class SoleSight : public testing::TestWithParam<Sole> {};

TEST_P(SoleSight, IsRedInItsRelationAndInNoOther) {
  const Judged j = judged(GetParam().behaviour, GetParam().text());
  EXPECT_EQ(j.red_relations(), std::set<std::string_view>{GetParam().relation});
}

TEST_P(SoleSight, StaysUnseenWithoutItsRelation) {
  std::vector<std::string> others;
  for (const Relation& r : relations()) {
    if (r.name != GetParam().relation) others.emplace_back(r.name);
  }
  const Judged j = judged(GetParam().behaviour, GetParam().text(others));
  EXPECT_EQ(j.with(Status::kPass).size(), j.results.size());
}

INSTANTIATE_TEST_SUITE_P(Relations,
                         SoleSight,
                         testing::Values(Sole{"repeat", "by-repetition"},
                                         Sole{"fresh", "by-first-sight"},
                                         Sole{"alone", "by-batch-unless-twins"},
                                         Sole{"twins", "by-copy"},
                                         Sole{"permute", "by-permutation"},
                                         Sole{"neighbours", "by-neighbours"},
                                         Sole{"layout", "by-strides"},
                                         Sole{"forms", "by-form"},
                                         Sole{"pad", "by-nan-padding", kAttention, "bool_mask"},
                                         Sole{"threads", "by-threads"},
                                         Sole{"zeropad", "by-padding"},
                                         Sole{"chunk", "by-chunk", kAttention, "causal"},
                                         Sole{"rank", "by-rank", "matmul"}),
                         [](const auto& info) { return info.param.relation; });

TEST(Relations, AllHaveABehaviourThatTheyAloneSee) {
  EXPECT_EQ(relations().size(), 13u) << "add one for the new relation above";
}

TEST(Sweep, LetsTheSecondWorkerSeeTheSampleTheOtherWayRound) {
  int large_first = 0;
  const Selection selection = make_selection(product({"fresh", "alone"}, "1,9,17"));
  for (const Cell& cell : make_plan(selection, Strength::kStandard)) {
    for (const ProblemPlan& plan : cell.problems) {
      const auto p = prepare(plan, selection, Seed{1});
      std::optional<std::int64_t> first[2];
      for (const PlannedTrial& t : sweep_order(*p)) {
        auto& seen = first[t.trial.worker];
        if (!seen) seen = t.trial.batch;
      }
      EXPECT_EQ(*first[0] == 1, *first[1] != 1) << p->cases[0].name;
      large_first += *first[0] != 1;
    }
  }
  EXPECT_GE(large_first, 5);
  EXPECT_LE(large_first, 19);
}

TEST(Sweep, RunsEachTrialOnceAndThreadCountsLast) {
  const auto p = fake::first_problem(product());
  const auto order = sweep_order(*p);
  EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size());
  const auto threaded = [](const PlannedTrial& t) { return t.trial.threads != 0; };
  const auto first = std::ranges::find_if(order, threaded);
  EXPECT_EQ(order.end() - first, 6);
  EXPECT_TRUE(std::all_of(first, order.end(), threaded));
  const auto looks_again = [](const PlannedTrial& t) {
    return t.trial.batch == 1 && t.trial.run > 0;
  };
  EXPECT_TRUE(looks_again(*(first - 1))) << "the single-sample run once more, at the end";
}

std::size_t trials_of_33(const Prepared& p) {
  std::set<PlannedTrial> all;
  for (const Case& c : p.cases) {
    if (c.trial.trial.batch == 33) all.insert(c.trial);
  }
  return all.size();
}

/// Deaths cost the cases of B=33 and nothing else.
void expect_deaths(const Judged& j, Status status, std::optional<Reason> reason) {
  ASSERT_LT(trials_of_33(*j.prepared), 3u) << "after three deaths the rest is blocked";
  for (std::size_t i = 0; i < j.results.size(); ++i) {
    const report::CaseResult& r = j.results[i];
    const bool dead = j.prepared->cases[i].trial.trial.batch == 33;
    EXPECT_EQ(r.status, dead ? status : Status::kPass) << r.case_name;
    if (dead && reason) {
      EXPECT_EQ(r.reasons, std::vector{*reason});
    }
  }
  EXPECT_FALSE(j.with(status).empty());
}

TEST(Stage, StartsACrashedWorkerAgainAndJudgesTheOtherCases) {
  const Judged j = judged("crashes-at-33", product({"alone", "repeat"}, "1,5,33,64"));
  expect_deaths(j, Status::kCrash, Reason::kSignal);
  EXPECT_THAT(j.with(Status::kCrash)[0].detail->message, HasSubstr("killed by signal 11"));
}

TEST(Stage, StartsAHungWorkerAgainAndJudgesTheOtherCases) {
  WorkerLaunch launch = fake::launch("hangs-at-33", true);
  launch.timeout = std::chrono::seconds(1);
  const Judged j =
      fake::judge_all(fake::first_problem(product({"alone", "repeat"}, "1,5,33,64")), launch);
  expect_deaths(j, Status::kTimeout, {});
}

TEST(Stage, BlocksAProblemAfterThreeDeaths) {
  const Judged j = judged("crashes-in-batches", product({"alone", "permute"}));
  std::size_t deaths = 0;
  for (const auto& r : j.with(Status::kCrash)) deaths += r.reasons == std::vector{Reason::kSignal};
  EXPECT_GE(deaths, 1u);
  EXPECT_FALSE(j.with(Status::kBlocked).empty());
  EXPECT_TRUE(j.with(Status::kPass).empty());
  EXPECT_EQ(j.with(Status::kCrash).size() + j.with(Status::kBlocked).size(), j.results.size());
}

TEST(Stage, GivesEachProblemItsOwnDeaths) {
  Stage stage(fake::launch("crashes-in-batches", true));
  for (int problem = 0; problem < 2; ++problem) {
    const auto p = fake::first_problem(product({"alone"}, "1,9,17,33,65"));
    int deaths = 0;
    for (const auto& [trial, result] : sweep(stage, *p)) deaths += result.death.has_value();
    EXPECT_EQ(deaths, 3);
  }
}

}  // namespace
}  // namespace bic

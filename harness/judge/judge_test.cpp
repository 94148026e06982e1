#include "harness/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/fake_worker/fake_run.h"

namespace bic {
namespace {

using fake::Judged;
using testing::Contains;
using testing::HasSubstr;

SelectionText product(const std::string& dtype = "fp32", std::vector<std::string> relations = {}) {
  return {.ops = {"mm"}, .dtypes = {dtype}, .relations = std::move(relations), .dims = "k=67,n=5"};
}

Judged judged(const std::string& behaviour, const SelectionText& text, bool isolated = false) {
  return fake::judge_all(fake::first_problem(text), fake::launch(behaviour, isolated));
}

bool is(const report::CaseResult& r, Status status, std::optional<Reason> reason) {
  return r.status == status &&
         (!reason || std::ranges::find(r.reasons, *reason) != r.reasons.end());
}

/// A behaviour of the fake worker and what it gets, in a relation that must see it.
struct Sight {
  std::string behaviour;
  std::string op = "mm";
  std::string dtype = "fp32";
  std::string relation;
  Status status = Status::kFail;
  std::optional<Reason> reason;
  std::string dims = "";

  SelectionText selection() const {
    return {.ops = {op},
            .dtypes = {dtype},
            .relations = {relation},
            .dims = op == "mm" ? "k=67,n=5" : dims};
  }
};

std::vector<Sight> sights() {
  using enum Status;
  return {
      {"by-batch", "mm", "fp32", "alone", kFail, Reason::kBits},
      {"by-batch", "mm", "bf16", "alone", kFail, Reason::kBits},
      {"by-batch", "softmax", "fp32", "alone", kFail, Reason::kBits, "h=203"},
      {"by-batch", "gelu", "fp32", "alone", kFail, Reason::kBits, "h=33"},
      {"noisy", "mm", "fp32", "alone", kUnstable, Reason::kBits},
      {"noisy", "mm", "bf16", "repeat", kUnstable, Reason::kBits},
      {"by-repetition", "mm", "fp32", "repeat", kUnstable, Reason::kBits},
      {"last-position", "mm", "fp32", "alone", kFail, Reason::kBits},
      {"last-position", "softmax", "fp32", "twins", kFail, Reason::kBits, "h=203"},
      {"no-witness-layout", "mm", "bf16", "layout", kVacuous, Reason::kWitness},
      {"no-witness-address", "mm", "fp32", "alone", kVacuous, Reason::kWitness},
      {"no-witness-output", "mm", "fp32", "forms", kVacuous, Reason::kWitness},
      {"wrong-team", "mm", "fp32", "threads", kVacuous, Reason::kWitness},
      {"no-parallel-region", "mm", "fp32", "threads", kSkipped, Reason::kNoParallelRegion},
      {"wrong-shape", "mm", "fp32", "alone", kFail, Reason::kShape},
      {"wrong-dtype", "mm", "bf16", "repeat", kFail, Reason::kDtype},
      {"unwritten", "mm", "fp32", "forms", kFail, Reason::kStaleOutput},
      {"input-changed", "mm", "fp32", "permute", kFail, Reason::kInputChanged},
      {"out-of-bounds", "mm", "bf16", "zeropad", kFail, Reason::kOutOfBounds},
      {"not-called", "mm", "fp32", "alone", kFail, Reason::kNotCalled},
      {"inaccurate", "mm", "fp32", "alone", kFail, Reason::kAccuracy},
      {"inaccurate", "softmax", "fp32", "alone", kFail, Reason::kAccuracy, "h=203"},
      {"nan-leak", "mm", "fp32", "neighbours", kFail, Reason::kNanLeak},
      {"nan-leak", "mm", "bf16", "neighbours", kFail, Reason::kBits},
      {"refuses", "mm", "fp32", "alone", kRefused, {}},
      {"refuses-33", "mm", "fp32", "alone", kRefused, {}},
      {"throws", "mm", "fp32", "alone", kCrash, Reason::kException},
  };
}

class Fault : public testing::TestWithParam<std::tuple<Sight, bool>> {};

TEST_P(Fault, GetsItsStatusAndReason) {
  const auto& [sight, isolated] = GetParam();
  const Judged j = judged(sight.behaviour, sight.selection(), isolated);
  EXPECT_TRUE(std::ranges::any_of(j.results,
                                  [&](const auto& r) { return is(r, sight.status, sight.reason); }))
      << "first: " << name(j.results[0].status);
}

TEST_P(Fault, IsNotSeenInAnHonestWorker) {
  const auto& [sight, isolated] = GetParam();
  const Judged j = judged("honest", sight.selection(), isolated);
  EXPECT_EQ(j.with(Status::kPass).size(), j.results.size());
}

std::string fault_name(const testing::TestParamInfo<Fault::ParamType>& info) {
  const auto& [s, isolated] = info.param;
  std::string name = s.behaviour + "_" + s.op + "_" + s.dtype + "_" + s.relation;
  std::ranges::replace(name, '-', '_');
  return name + (isolated ? "_process" : "_none");
}

INSTANTIATE_TEST_SUITE_P(FakeWorker,
                         Fault,
                         testing::Combine(testing::ValuesIn(sights()), testing::Bool()),
                         fault_name);

TEST(Judge, NotesTheFirstDifferenceAndWhereItStarts) {
  const Judged j = judged("by-batch", product("fp32", {"alone"}));
  const auto failed = j.with(Status::kFail);
  ASSERT_FALSE(failed.empty());
  for (const report::CaseResult& r : failed) {
    ASSERT_TRUE(r.detail);
    EXPECT_EQ(r.detail->starts_at_batch, 8);
    EXPECT_EQ(r.detail->total, 5);
    EXPECT_GE(r.detail->differing, 1);
    EXPECT_NE(r.detail->bits_a, r.detail->bits_b);
    EXPECT_EQ(r.digest.size(), 64u);
  }
}

TEST(Judge, PassesTheBatchesBelowTheSwitch) {
  const Judged j = judged("by-batch", product("fp32", {"alone"}));
  for (std::size_t i = 0; i < j.results.size(); ++i) {
    const bool small = j.prepared->cases[i].named.batch < 8;
    EXPECT_EQ(j.results[i].status, small ? Status::kPass : Status::kFail) << j.results[i].case_name;
  }
}

TEST(Judge, BlocksACaseWhoseComparisonDidNotRun) {
  const Judged j = judged("refuses-33", product());
  for (std::size_t i = 0; i < j.results.size(); ++i) {
    const Case& c = j.prepared->cases[i];
    const bool trial = c.trial.trial.batch == 33, against = c.against->trial.batch == 33;
    if (trial && !against) {
      EXPECT_EQ(j.results[i].status, Status::kRefused);
    }
    if (against && !trial) {
      EXPECT_EQ(j.results[i].status, Status::kBlocked);
    }
    if (trial && against) {
      EXPECT_EQ(j.results[i].status, Status::kRefused);
    }
  }
  EXPECT_FALSE(j.with(Status::kRefused).empty());
}

TEST(Judge, CannotProveFreshWithoutASecondProcess) {
  const Judged j = judged("honest", product("fp32", {"fresh"}));
  ASSERT_FALSE(j.results.empty());
  for (const report::CaseResult& r : j.results)
    EXPECT_TRUE(is(r, Status::kVacuous, Reason::kWitness));
}

/// The case `B9 against B1` of the product with another law.
std::unique_ptr<Prepared> product_under(Law law) {
  Problem p = fake::first_problem(product("fp32", {"alone"}))->problem;
  p.law = law;
  return prepare_case(case_name(p, "alone", {{.batch = 9, .position = 4}, {}}, {}));
}

Judged judged(const std::string& behaviour, std::unique_ptr<Prepared> p) {
  return fake::judge_all(std::move(p), fake::launch(behaviour, false));
}

TEST(Judge, CallsAgreementVacuousWhereTheControlsAgree) {
  const Judged j = judged("honest", product_under(Law::kOnes));
  EXPECT_TRUE(is(j.results[0], Status::kVacuous, Reason::kControls));
  // Exact sums: the other order has the same bits, and only the controls know that.
  EXPECT_TRUE(is(judged("by-batch", product_under(Law::kOnes)).results[0],
                 Status::kVacuous,
                 Reason::kControls));
}

TEST(Judge, SeesADroppedTermWhereTheControlsAgree) {
  EXPECT_TRUE(is(judged("inaccurate", product_under(Law::kOnes)).results[0],
                 Status::kFail,
                 Reason::kAccuracy));
}

TEST(Judge, CallsAgreementOfNansVacuous) {
  auto p = product_under(Law::kNan);
  p->telling.told_apart = true;
  EXPECT_TRUE(is(judged("honest", std::move(p)).results[0], Status::kVacuous, Reason::kNonFinite));
}

TEST(Judge, TellsNanPayloadsFromBits) {
  const Judged j = judged("nan-payload", product_under(Law::kNan));
  EXPECT_EQ(j.results[0].status, Status::kFail);
  EXPECT_EQ(j.results[0].reasons, std::vector{Reason::kNanBits});
}

TEST(Judge, MeasuresTheErrorAsAShareOfItsBound) {
  const auto worst = [](const std::string& behaviour) {
    auto p = fake::first_problem({.ops = {"mm"}, .dtypes = {"fp32"}, .dims = "k=16,n=5"}, true);
    Stage stage(fake::launch(behaviour, false));
    const auto results = sweep(stage, *p);
    const Promise promise;
    Judge judge(*p, promise, results, false, [&](const PlannedTrial& t) { return stage.run(t); });
    for (const Case& c : p->cases) judge.judge(c);
    return judge.worst_error_ppm();
  };
  ASSERT_TRUE(worst("honest"));
  EXPECT_LE(*worst("honest"), 1'000'000);
  EXPECT_GT(*worst("inaccurate"), 1'000'000);
}

}  // namespace
}  // namespace bic

// Each relation changes something. Where the worker silently does not, equal bits prove nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "harness/fake_worker/fake_run.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

constexpr auto kAttention = "scaled_dot_product_attention";

/// A relation, and a worker that reports what it did, which is not what the relation asks for.
struct Silence {
  std::string relation, behaviour;
  std::string op = "mm", variant = "";
  bool isolated = true;

  fake::Judged judged(const std::string& worker) const {
    SelectionText text{.ops = {op}, .dtypes = {"fp32"}, .relations = {relation}};
    if (op == "mm") text.dims = "k=67,n=5";
    if (!variant.empty()) text.case_pattern = "^" + op + "-" + variant + "[.]";
    return fake::judge_all(fake::first_problem(text), fake::launch(worker, isolated));
  }
};

std::vector<Silence> silences() {
  return {{"repeat", "runs-once"},
          {"fresh", "honest", "mm", "", false},  // without isolation there is one process
          {"alone", "has-one-sample"},
          {"twins", "has-one-sample"},
          {"permute", "keeps-its-company"},
          {"neighbours", "keeps-its-company"},
          {"layout", "no-witness-layout"},
          {"layout", "no-witness-address"},
          {"forms", "no-witness-output"},
          {"forms", "calls-as-usual"},
          {"pad", "does-not-pad", kAttention, "bool_mask"},
          {"threads", "wrong-team"},
          {"zeropad", "does-not-pad"},
          {"chunk", "calls-as-usual", kAttention, "causal"},
          {"rank", "calls-as-usual", "matmul"}};
}

void PrintTo(const Silence& s, std::ostream* out) { *out << s.relation << ' ' << s.behaviour; }

class Silent : public testing::TestWithParam<Silence> {};

TEST_P(Silent, PerturbationLeavesItsCasesVacuous) {
  const fake::Judged j = GetParam().judged(GetParam().behaviour);
  const auto vacuous = j.with(Status::kVacuous);
  EXPECT_EQ(j.with(Status::kPass).size() + vacuous.size(), j.results.size());
  EXPECT_FALSE(vacuous.empty());
  for (const report::CaseResult& r : vacuous) {
    EXPECT_EQ(r.reasons, std::vector{Reason::kWitness}) << r.case_name;
  }
  // A layout has several sides, of which a worker may leave out one.
  if (GetParam().relation == "layout") return;
  EXPECT_TRUE(j.with(Status::kPass).empty());
}

TEST_P(Silent, PerturbationIsSeenInAnHonestWorker) {
  Silence honest = GetParam();
  honest.isolated = true;
  const fake::Judged j = honest.judged("honest");
  EXPECT_EQ(j.with(Status::kPass).size(), j.results.size());
}

INSTANTIATE_TEST_SUITE_P(Relations, Silent, testing::ValuesIn(silences()), [](const auto& info) {
  std::string name = info.param.relation + "_" + info.param.behaviour;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Silences, CoverEveryRelation) {
  for (const Relation& r : relations()) {
    const auto all = silences();
    EXPECT_NE(std::ranges::find(all, r.name, &Silence::relation), all.end()) << r.name;
  }
}

}  // namespace
}  // namespace bic

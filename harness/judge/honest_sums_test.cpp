// Sums that are honest and unlike the suite's own get no red case, in bits or accuracy.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/fake_worker/fake_run.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

struct Subject {
  std::string behaviour, op;
  DType dtype = DType::kFloat32;
};

/// All relations but `zeropad`: the tree of a pairwise sum depends on its length, and a compensated
/// one adds what it still owes to the first zero, so that both break it, and rightly so.
std::vector<std::string> kept_relations() {
  std::vector<std::string> kept{std::string(kAccuracyRelation)};
  for (const Relation& r : relations()) {
    if (r.name != "zeropad") kept.emplace_back(r.name);
  }
  return kept;
}

/// The cases of all quick problems of an op and dtype whose samples are whole rows.
std::vector<report::CaseResult> judged(const std::string& behaviour, const Subject& s) {
  const Selection selection = make_selection({.ops = {s.op},
                                              .dtypes = {std::string(name(s.dtype))},
                                              .relations = kept_relations(),
                                              .case_pattern = "^" + s.op + "[.]",
                                              .batches = "1,8,33"});
  std::vector<report::CaseResult> all;
  for (const Cell& cell : make_plan(selection, Strength::kQuick)) {
    for (const ProblemPlan& plan : cell.problems) {
      auto some =
          fake::judge_all(prepare(plan, selection, Seed{0xb1c0}), fake::launch(behaviour, false))
              .results;
      std::ranges::move(some, std::back_inserter(all));
    }
  }
  return all;
}

void PrintTo(const Subject& s, std::ostream* out) {
  *out << s.behaviour << ' ' << s.op << ' ' << name(s.dtype);
}

class HonestSum : public testing::TestWithParam<Subject> {};

TEST_P(HonestSum, IsAcceptedByTheWholeJudge) {
  const auto own = judged("honest", GetParam()), other = judged(GetParam().behaviour, GetParam());
  ASSERT_EQ(own.size(), other.size());
  ASSERT_GE(other.size(), 60u);
  std::size_t with_other_bits = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    ASSERT_EQ(other[i].case_name, own[i].case_name);
    EXPECT_EQ(name(other[i].status), name(own[i].status)) << other[i].case_name;
    EXPECT_FALSE(is_red(other[i].status)) << other[i].case_name;
    with_other_bits += other[i].digest != own[i].digest;
  }
  // Or it would have been the suite's own order that was accepted.
  EXPECT_GE(with_other_bits, other.size() / 4);
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const char* behaviour : {"pairwise", "compensated"}) {
    for (const char* op : {"mm", "sum"}) {
      for (DType dtype : kAllDTypes) all.push_back({behaviour, op, dtype});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(FakeWorker,
                         HonestSum,
                         testing::ValuesIn(subjects()),
                         [](const auto& info) {
                           const Subject& s = info.param;
                           return s.behaviour + "_" + s.op + "_" + std::string(name(s.dtype));
                         });

}  // namespace
}  // namespace bic

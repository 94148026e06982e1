#include "harness/shrink/shrink_facts.h"

#include <gtest/gtest.h>

#include "harness/fake_worker/fake_run.h"

namespace bic {
namespace {

fake::Judged judged(const std::string& behaviour) {
  const SelectionText text{.ops = {"mm"},
                           .dtypes = {"fp32"},
                           .relations = {"alone", "twins", "permute"},
                           .dims = "k=67,n=5",
                           .batches = "1,2,7,8,33"};
  return fake::judge_all(fake::first_problem(text), fake::launch(behaviour, true));
}

BitClasses classes_of(const fake::Judged& j) {
  return bit_classes(*j.prepared, j.results, j.prepared->telling.samples[0]);
}

TEST(BitClasses, PartTheSizesThatWereTried) {
  const BitClasses classes = classes_of(judged("by-batch"));
  EXPECT_EQ(classes, (BitClasses{{1, 2, 7}, {8, 33}}));
  EXPECT_EQ(first_to_differ(classes), 8);
}

TEST(BitClasses, AreOneWhereNothingDiffers) {
  const BitClasses classes = classes_of(judged("honest"));
  EXPECT_EQ(classes, (BitClasses{{1, 2, 7, 8, 33}}));
  EXPECT_EQ(first_to_differ(classes), std::nullopt);
}

TEST(BitClasses, LeaveOutSizesThatGaveNothing) {
  EXPECT_EQ(classes_of(judged("refuses-33")), (BitClasses{{1, 2, 7, 8}}));
}

std::map<std::string, Status> outcomes_of(const std::string& behaviour) {
  const fake::Judged j = judged(behaviour);
  std::map<std::string, Status> all;
  for (const auto& r : outcomes(*j.prepared, j.results)) all[r.relation] = r.status;
  return all;
}

TEST(Outcomes, TellRelationsThatBreakFromThoseThatHold) {
  const auto of = outcomes_of("by-batch");
  EXPECT_EQ(of.at("alone"), Status::kFail);
  EXPECT_EQ(of.at("twins"), Status::kFail);
  EXPECT_EQ(of.at("permute"), Status::kPass);
  EXPECT_EQ(of.at("accuracy"), Status::kPass);
}

TEST(Outcomes, DoNotTakeAWrongValueForAnotherOne) {
  const auto of = outcomes_of("inaccurate");
  EXPECT_EQ(of.at("accuracy"), Status::kFail);
  EXPECT_EQ(of.at("alone"), Status::kPass);
}

TEST(Outcomes, AreTheWorstOfARelationsCases) {
  EXPECT_EQ(outcomes_of("refuses-33").at("alone"), Status::kRefused);
  EXPECT_EQ(outcomes_of("wrong-shape").at("alone"), Status::kFail);
}

}  // namespace
}  // namespace bic

#include "results_schema/render/failure_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bic {
namespace {

TEST(BitClasses, ReadAsRangesOfTheSizesTried) {
  EXPECT_EQ(to_text({{1, 2, 7}, {8, 33}}), "{1-7} {8-33}");
  EXPECT_EQ(to_text({{1, 2, 4}, {3}, {5, 8}}), "{1-2,4} {3} {5-8}");
  EXPECT_EQ(to_text({}), "");
}

TEST(Facts, AreShownBelowTheFailure) {
  report::Failure f;
  f.found = "mm.alone/fp32:k67,n5:B9@3#1~B1#1:fill=cancel:s=0000000000000001";
  f.shrunk.case_name = "mm.alone/fp32:k3,n1:B8#0~B1#0:fill=uniform:s=0000000000000001";
  f.trials = 61;
  f.classes = {{1, 2, 7}, {8, 33}};
  f.relations = {{"accuracy", Status::kPass}, {"alone", Status::kFail}, {"twins", Status::kPass}};
  EXPECT_EQ(facts_text(f),
            "  found as " + f.found +
                ", made smaller in 61 trials\n"
                "  bit classes of B: {1-7} {8-33}\n"
                "  fails: alone\n"
                "  holds: accuracy, twins");
  f.shrunk.case_name = f.found;
  EXPECT_THAT(facts_text(f), testing::HasSubstr("none of 61 trials found it smaller"));
  f.note = "the run was cut";
  EXPECT_THAT(facts_text(f), testing::StartsWith("  as found: the run was cut\n"));
}

}  // namespace
}  // namespace bic

#include "results_schema/compare/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/compare/test_reports.h"

namespace bic::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kOne = case_of("mm", "alone", 2), kTwo = case_of("mm", "alone", 3),
                  kThree = case_of("mm", "permute", 33);

/// "mm alone: 2, pass -> fail" for each group.
std::vector<std::string> texts(const std::vector<ChangedCases>& groups) {
  const auto shown = [](std::optional<Status> s) { return s ? std::string(name(*s)) : "none"; };
  std::vector<std::string> texts;
  for (const ChangedCases& g : groups) {
    texts.push_back(g.op + " " + g.relation + (g.size.empty() ? "" : " " + g.size) + ": " +
                    std::to_string(g.count) + ", " + shown(g.before) + " -> " + shown(g.now));
  }
  return texts;
}

CaseChanges change(Status before, Status now) {
  return compare_cases(report_of({{kOne, before}}), report_of({{kOne, now}}));
}

std::size_t size_of_all(const CaseChanges& c) {
  return c.failures.size() + c.lost.size() + c.vacuous.size() + c.waived.size() + c.fixed.size();
}

TEST(CompareCases, OfEqualReportsHasNothing) {
  const Report r = report_of({{kOne, Status::kPass}, {kTwo, Status::kFail}});
  const CaseChanges c = compare_cases(r, r);
  EXPECT_EQ(size_of_all(c), 0u);
  EXPECT_EQ(c.by_name, 2);
  EXPECT_EQ(c.still_failing, 1);
  EXPECT_FALSE(c.by_class);
}

TEST(CompareCases, PutsEachChangeOfStatusInOneList) {
  struct Row {
    Status before, now;
    std::vector<ChangedCases> CaseChanges::*list;
  };
  for (const Row& row : {Row{Status::kPass, Status::kFail, &CaseChanges::failures},
                         Row{Status::kPass, Status::kCrash, &CaseChanges::failures},
                         Row{Status::kPass, Status::kError, &CaseChanges::failures},
                         Row{Status::kVacuous, Status::kFail, &CaseChanges::failures},
                         Row{Status::kSkipped, Status::kFail, &CaseChanges::failures},
                         Row{Status::kWaived, Status::kFail, &CaseChanges::failures},
                         Row{Status::kUnexpectedPass, Status::kFail, &CaseChanges::failures},
                         Row{Status::kPass, Status::kUnsupported, &CaseChanges::lost},
                         Row{Status::kFail, Status::kUnsupported, &CaseChanges::lost},
                         Row{Status::kPass, Status::kSkipped, &CaseChanges::lost},
                         Row{Status::kWaived, Status::kSkipped, &CaseChanges::lost},
                         Row{Status::kPass, Status::kVacuous, &CaseChanges::vacuous},
                         Row{Status::kFail, Status::kVacuous, &CaseChanges::vacuous},
                         Row{Status::kPass, Status::kWaived, &CaseChanges::waived},
                         Row{Status::kFail, Status::kPass, &CaseChanges::fixed},
                         Row{Status::kWaived, Status::kPass, &CaseChanges::fixed},
                         Row{Status::kWaived, Status::kUnexpectedPass, &CaseChanges::fixed}}) {
    const CaseChanges c = change(row.before, row.now);
    EXPECT_EQ((c.*row.list).size(), 1u) << name(row.before) << " -> " << name(row.now);
    EXPECT_EQ(size_of_all(c), 1u) << name(row.before) << " -> " << name(row.now);
  }
}

TEST(CompareCases, SaysNothingOfWhatIsNotWorseNorBetter) {
  for (const auto& [before, now] : {std::pair(Status::kFail, Status::kCrash),
                                    std::pair(Status::kFail, Status::kWaived),
                                    std::pair(Status::kVacuous, Status::kSkipped),
                                    std::pair(Status::kVacuous, Status::kPass),
                                    std::pair(Status::kPass, Status::kUnexpectedPass)}) {
    EXPECT_EQ(size_of_all(change(before, now)), 0u) << name(before) << " -> " << name(now);
  }
}

TEST(CompareCases, OfOnePlanLosesACaseThatIsNotThere) {
  const Report before = report_of({{kOne, Status::kPass}, {kTwo, Status::kPass}});
  const CaseChanges c = compare_cases(before, report_of({{kOne, Status::kPass}}));
  EXPECT_THAT(texts(c.lost), ElementsAre("mm alone: 1, pass -> none"));
  EXPECT_EQ(c.lost[0].example, kTwo);
}

TEST(CompareCases, LosesNothingWhereAKernelOpensNoParallelRegion) {
  const Report before = report_of({{kOne, Status::kPass}});
  Report now = report_of({{kOne, Status::kSkipped}});
  EXPECT_EQ(compare_cases(before, now).lost.size(), 1u);
  now.cases[0].reasons = {Reason::kNoParallelRegion};
  EXPECT_EQ(compare_cases(before, now).lost.size(), 0u);
  now.cases[0].case_name = case_of("mm", "alone", 5, 2);
  EXPECT_EQ(compare_cases(before, of_another_plan(now)).lost.size(), 0u);
  now.cases[0].reasons = {Reason::kBudget};
  EXPECT_EQ(compare_cases(before, of_another_plan(now)).lost.size(), 1u);
}

TEST(CompareCases, CountsEqualChangesTogetherTheWorstFirst) {
  const Report before =
      report_of({{kOne, Status::kPass}, {kTwo, Status::kPass}, {kThree, Status::kPass}});
  const CaseChanges more = compare_cases(
      before, report_of({{kOne, Status::kFail}, {kTwo, Status::kFail}, {kThree, Status::kFail}}));
  EXPECT_THAT(texts(more.failures),
              ElementsAre("mm alone: 2, pass -> fail", "mm permute: 1, pass -> fail"));
  const CaseChanges worse = compare_cases(
      before, report_of({{kOne, Status::kFail}, {kTwo, Status::kFail}, {kThree, Status::kCrash}}));
  EXPECT_THAT(texts(worse.failures),
              ElementsAre("mm permute: 1, pass -> crash", "mm alone: 2, pass -> fail"));
}

TEST(CompareCases, OfOtherPlansHoldsSharedCasesToThemselves) {
  const Report before = report_of({{kOne, Status::kFail}, {kTwo, Status::kPass}});
  const Report now = of_another_plan(report_of({{kOne, Status::kFail}, {kTwo, Status::kFail}}));
  EXPECT_THAT(texts(compare_cases(before, now).failures), ElementsAre("mm alone: 1, pass -> fail"))
      << "though the class failed before";
}

/// Cases of another seed share no name with those of the first.
TEST(CompareCases, OfOtherSeedsComparesClasses) {
  const std::string other = case_of("mm", "alone", 5, 2), large = case_of("mm", "alone", 129, 2);
  const auto compare_class = [&](Status before, Status now) {
    return compare_cases(report_of({{kOne, before}}), of_another_plan(report_of({{other, now}})));
  };
  const CaseChanges same = compare_class(Status::kPass, Status::kPass);
  EXPECT_EQ(size_of_all(same), 0u);
  EXPECT_TRUE(same.by_class);
  EXPECT_EQ(same.by_name, 0);
  EXPECT_THAT(texts(compare_class(Status::kPass, Status::kFail).failures),
              ElementsAre("mm alone B=2-16: 1, pass -> fail"));
  EXPECT_EQ(size_of_all(compare_class(Status::kFail, Status::kFail)), 0u) << "known before";
  EXPECT_EQ(compare_class(Status::kFail, Status::kFail).still_failing, 1);
  EXPECT_THAT(texts(compare_class(Status::kFail, Status::kPass).fixed),
              ElementsAre("mm alone B=2-16: 1, fail -> pass"));
  EXPECT_THAT(texts(compare_class(Status::kPass, Status::kUnsupported).lost),
              ElementsAre("mm alone B=2-16: 1, pass -> unsupported"));
  EXPECT_THAT(texts(compare_class(Status::kPass, Status::kVacuous).vacuous),
              ElementsAre("mm alone B=2-16: 1, pass -> vacuous"));
  const CaseChanges moved = compare_cases(report_of({{kOne, Status::kPass}}),
                                          of_another_plan(report_of({{large, Status::kPass}})));
  EXPECT_THAT(texts(moved.lost), ElementsAre("mm alone B=2-16: 1, pass -> none"));
}

TEST(CompareCases, OfAClassNamesTheCaseThatFails) {
  const std::string other = case_of("mm", "alone", 5, 2), failing = case_of("mm", "alone", 4, 2);
  const CaseChanges c =
      compare_cases(report_of({{kOne, Status::kPass}}),
                    of_another_plan(report_of({{other, Status::kPass}, {failing, Status::kFail}})));
  ASSERT_EQ(c.failures.size(), 1u);
  EXPECT_EQ(c.failures[0].example, failing);
}

TEST(CompareCases, SortsSizesByTheLargestBatch) {
  const auto size = [](int batch) {
    return size_class(parse_case_name(case_of("mm", "alone", batch)));
  };
  EXPECT_EQ(size(1), "B=1");
  EXPECT_EQ(size(2), "B=2-16");
  EXPECT_EQ(size(16), "B=2-16");
  EXPECT_EQ(size(17), "B=17-64");
  EXPECT_EQ(size(64), "B=17-64");
  EXPECT_EQ(size(65), "B>64");
}

}  // namespace
}  // namespace bic::report

#include "results_schema/compare/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/compare/test_reports.h"

namespace bic::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kPassed = case_of("mm", "alone", 2);
const std::string kRepro = "repro: bi-conform repro '" + kPassed + "' --backend plugin:x.so";

std::string text_of(const Report& before, const Report& now) {
  return difference_text({before, now, compare(before, now)});
}

std::string page_of(const Report& before, const Report& now) {
  return difference_markdown({before, now, compare(before, now)}, "gate/report.json");
}

/// One failing group for each of so many relations, ops in each with one case.
Report failing_report(int relations, int ops, Status status) {
  std::vector<std::pair<std::string, Status>> cases;
  for (int r = 0; r < relations; ++r) {
    for (int op = 0; op < ops; ++op) {
      cases.emplace_back(case_of("op" + std::to_string(op), "r" + std::to_string(r), 2), status);
    }
  }
  return report_of(cases);
}

TEST(DifferenceText, OfOneReportSaysThatNothingIsWorse) {
  const Report r =
      report_of({{kPassed, Status::kPass}, {case_of("mm", "alone", 3), Status::kFail}});
  EXPECT_THAT(text_of(r, r),
              AllOf(testing::EndsWith("\nno change for the worse\n"),
                    HasSubstr("2 cases compared one by one\n1 cases fail as before\n"),
                    Not(HasSubstr("RED"))));
}

TEST(DifferenceText, HasTheReproLineOfANewFailure) {
  const Report before = report_of({{kPassed, Status::kPass}});
  Report now = report_of({{kPassed, Status::kFail}});
  EXPECT_THAT(text_of(before, now),
              AllOf(HasSubstr("RED new failures: 1 case\n"
                              "  mm fp32 alone: 1 case, pass before, fail now\n"
                              "    FAIL mm.alone fp32 B=2 vs B=1 [bits]\n    " +
                              kRepro + "\n"),
                    testing::EndsWith("\nred: new failures: 1 case\n")));
  // Made small, the failure is shown as it then is.
  now.failures = {{.found = kPassed, .shrunk = now.cases[0], .trials = 3}};
  now.failures[0].shrunk.case_name = case_of("mm", "alone", 2, 9);
  EXPECT_THAT(text_of(before, now), HasSubstr("repro '" + case_of("mm", "alone", 2, 9) + "'"));
}

TEST(DifferenceText, ShowsNoKnownFailureForANewOne) {
  const std::string known = case_of("mm", "alone", 3);
  const Report before = report_of({{kPassed, Status::kPass}, {known, Status::kFail}});
  Report now = report_of({{kPassed, Status::kFail}, {known, Status::kFail}});
  now.failures = {{.found = known, .shrunk = now.cases[1]}};
  EXPECT_THAT(text_of(before, now), AllOf(HasSubstr(kPassed), Not(HasSubstr(known))));
}

TEST(DifferenceText, SaysHowOtherPlansWereCompared) {
  const Report r = report_of({{kPassed, Status::kPass}});
  EXPECT_THAT(text_of(r, r), Not(HasSubstr("the plans differ")));
  EXPECT_THAT(text_of(r, of_another_plan(r)), HasSubstr("the plans differ"));
}

TEST(DifferenceMarkdown, NamesTheOpAndTheReproLine) {
  const std::string page =
      page_of(report_of({{kPassed, Status::kPass}}), report_of({{kPassed, Status::kFail}}));
  EXPECT_THAT(page, testing::StartsWith("## bi-conform: red: new failures: 1 case\n"));
  EXPECT_THAT(page, HasSubstr("\n- mm fp32 alone: 1 case, pass before, fail now\n"));
  EXPECT_THAT(page, HasSubstr("\n" + kRepro + "\n"));
}

TEST(DifferenceMarkdown, FitsACommentWithThousandsOfFailuresTheWorstFirst) {
  Report before = failing_report(20, 200, Status::kPass);
  Report now = failing_report(20, 200, Status::kFail);
  now.cases[2345].status = Status::kCrash;
  const std::string page = page_of(before, now);
  EXPECT_LE(page.size(), 65'000u);
  EXPECT_GT(page.size(), 60'000u);
  EXPECT_THAT(page, HasSubstr("more blocks found no room here; all of it: gate/report.json"));
  EXPECT_THAT(page, HasSubstr("new failures: 4000 cases"));
  EXPECT_LT(page.find("pass before, crash now"), page.find("pass before, fail now"));
}

TEST(DifferenceMarkdown, HasRedSectionsBeforeTheRest) {
  const std::string lost = case_of("mm", "permute", 2), fixed = case_of("mm", "forms", 2);
  Report before =
      report_of({{kPassed, Status::kPass}, {lost, Status::kPass}, {fixed, Status::kFail}});
  Report now =
      report_of({{kPassed, Status::kFail}, {lost, Status::kUnsupported}, {fixed, Status::kPass}});
  now.waivers = {{.pattern = "stale", .state = WaiverState::kUnexpectedPass},
                 {.pattern = "used", .state = WaiverState::kUsed}};
  const std::string page = page_of(before, now);
  const auto failures = page.find("### Red: new failures"),
             coverage = page.find("### Red: lost coverage"),
             stale = page.find("### Red: waivers to take out"),
             used = page.find("### waivers in use"), better = page.find("### fixed");
  EXPECT_TRUE(failures < coverage && coverage < stale && stale < used && used < better &&
              better != std::string::npos)
      << page;
}

}  // namespace
}  // namespace bic::report

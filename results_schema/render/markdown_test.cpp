#include "results_schema/render/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/error.h"
#include "results_schema/render/format.h"
#include "results_schema/render/page.h"
#include "results_schema/report_example.h"

namespace bic::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Markdown, SaysTheVerdictFirstAndHowAFailureIsRepeated) {
  const std::string text = markdown(example_report());
  EXPECT_THAT(text, testing::StartsWith("## bi-conform: no\n"));
  EXPECT_THAT(text,
              HasSubstr("\nrepro: bi-conform repro 'mm.alone/bf16:k2:B8#0~B1#0:fill=cancel:"
                        "s=0000000000000001' --backend libtorch --python python3.9\n"));
  EXPECT_THAT(text, HasSubstr("| mm | bf16 | BI-0 | 5 | 1 | 13.0 % | 0.90× | alone: bits |"));
  EXPECT_THAT(text, HasSubstr("| softmax | unused | 0 | slow | me | 2026-01-31 |"));
  EXPECT_THAT(text, HasSubstr("**Incomplete**: budget of 60s"));
  EXPECT_THAT(text,
              HasSubstr("| pi0 | tiny | bf16 | pass | 3 tensors, at most 50.0% of the bound"));
}

TEST(Markdown, FitsACommentAndSaysWhatItLeavesOut) {
  Report r = example_report();
  r.failures.assign(2000, example_failure());
  const std::string text = markdown(r);
  EXPECT_LE(text.size(), 65'000u);
  EXPECT_GT(text.size(), 60'000u);
  EXPECT_THAT(text, HasSubstr("more blocks found no room here; all of it: report.json"));
}

TEST(Markdown, ShowsWhatASubjectSaysAsText) {
  Report r = example_report();
  r.failures[0].shrunk.detail->message = "```\n</details><script>";
  r.ops[0].why = "a|b <img>\n# c";
  const std::string text = markdown(r);
  EXPECT_THAT(text, HasSubstr("````text\n"));
  EXPECT_THAT(text, HasSubstr("a\\|b \\<img\\> \\# c |"));
}

TEST(Page, KeepsTheOrderWhenABlockFindsNoRoom) {
  Page page(300);
  page.add("first");
  page.add(std::string(200, 'x'));
  page.add("last");
  EXPECT_THAT(page.text("all.md"), testing::StartsWith("first\n"));
  EXPECT_THAT(page.text("all.md"), Not(HasSubstr("last")));
  EXPECT_THAT(page.text("all.md"), HasSubstr("2 more blocks"));
}

TEST(Format, IsNamedOrRefused) {
  EXPECT_EQ(file_name(format_named("junit")), "junit.xml");
  EXPECT_THROW(format_named("junitt"), UsageError);
}

}  // namespace
}  // namespace bic::report

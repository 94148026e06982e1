#include "results_schema/compare/bits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/compare/test_reports.h"

namespace bic::report {
namespace {

using testing::HasSubstr;

const std::string kOne = case_of("mm", "alone", 2), kTwo = case_of("mm", "alone", 3);
const Report kBefore = report_of({{kOne, Status::kPass}, {kTwo, Status::kPass}});

TEST(CompareBits, OfOneReportHasNone) {
  const BitsDifference bits = compare_bits(kBefore, kBefore);
  EXPECT_EQ(bits.compared, 2);
  EXPECT_EQ(bits.changed, 0);
  EXPECT_TRUE(bits.rows.empty() && bits.subject.empty());
}

TEST(CompareBits, ListsTheCasesWithAnotherDigest) {
  Report now = kBefore;
  now.cases[1].digest = "01";
  now.subject.libraries = {{"libmm.so", std::string(64, 'a'), 1}};
  const BitsDifference bits = compare_bits(kBefore, now);
  EXPECT_EQ(bits.changed, 1);
  ASSERT_EQ(bits.rows.size(), 1u);
  EXPECT_THAT(bits.rows[0].changed, testing::ElementsAre(kTwo));
  const std::string text = bits_text(bits);
  EXPECT_THAT(text, HasSubstr("library libmm.so: none -> " + std::string(64, 'a')));
  EXPECT_THAT(text, HasSubstr("on cpu: 1 of 2 cases have other bits\n"));
  EXPECT_THAT(text, HasSubstr("mm fp32: 1 of 2\n    " + kTwo));
}

TEST(CompareBits, LeavesOutCasesOfOtherInputsAndWithoutOutput) {
  Report now = kBefore;
  now.cases[0].digest = "01";
  now.cases[0].inputs = std::string(64, 'f');
  now.cases[1].digest = "";
  const BitsDifference bits = compare_bits(kBefore, now);
  EXPECT_EQ(bits.compared, 0);
  EXPECT_EQ(bits.changed, 0);
  EXPECT_EQ(bits.other_inputs, 1);
  EXPECT_THAT(bits_text(bits), HasSubstr("1 have other inputs"));
}

TEST(CompareBits, NamesWhatChangedOfTheSubject) {
  Report now = kBefore;
  now.subject.device = "cuda:0";
  now.subject.fingerprint = {{"torch", "2.12.0"}};
  EXPECT_THAT(bits_text(compare_bits(kBefore, now)),
              testing::AllOf(HasSubstr("device: cpu -> cuda:0\n"),
                             HasSubstr("torch: none -> 2.12.0\n"),
                             HasSubstr("on cuda:0: 0 of 2")));
}

}  // namespace
}  // namespace bic::report

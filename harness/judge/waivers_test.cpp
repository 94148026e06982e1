#include "harness/judge/waivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/judge/verdict.h"
#include "results_schema/error.h"

namespace bic {
namespace {

using report::WaiverRow;
using report::WaiverState;
using testing::HasSubstr;

constexpr auto kAlone = "mm.alone/fp32:k8,n3:B7@3#42~B1#42:fill=cancel:s=0000000000000001";
constexpr auto kTwins = "mm.twins/fp32:k8,n3:B3@0#42~B3@1#42:fill=cancel:s=0000000000000001";

WaiverRow waiver_of(const std::string& pattern, const std::string& expires = "2026-12-31") {
  return {.pattern = pattern, .reason = "known", .owner = "ann", .expires = expires};
}

/// A complete report of one row whose cases have these statuses, the waivers applied and settled.
report::Report judged(Waivers waivers, Status alone, Status twins, bool has_all_cases = true) {
  report::Report report;
  report.run.complete = true;
  report.cases = waivers.applied(
      {{.case_name = kAlone, .status = alone}, {.case_name = kTwins, .status = twins}});
  report::OpRow row{.op = "mm", .dtype = DType::kFloat32, .level = Level::kSchedule};
  for (const auto& result : report.cases) {
    ++row.cases[result.status];
    ++report.totals.cases[result.status];
  }
  report.totals.planned = 2;
  report.ops.push_back(row);
  report.waivers = waivers.rows();
  settle_waivers(report, has_all_cases);
  return report;
}

TEST(Waivers, TurnFailuresOfTheirCasesIntoWaivedOnes) {
  const auto report = judged({{waiver_of("alone")}, "2026-12-31"}, Status::kFail, Status::kCrash);
  EXPECT_EQ(report.cases[0].status, Status::kWaived);
  EXPECT_EQ(report.cases[1].status, Status::kCrash) << "of another case";
  EXPECT_EQ(report.waivers[0].state, WaiverState::kUsed);
  EXPECT_EQ(report.waivers[0].waived, 1);
}

TEST(Waivers, CountAsAbsentTheDayAfterTheirLast) {
  const auto report = judged({{waiver_of(".")}, "2027-01-01"}, Status::kFail, Status::kPass);
  EXPECT_EQ(report.cases[0].status, Status::kFail);
  EXPECT_EQ(report.waivers[0].state, WaiverState::kExpired);
}

TEST(Waivers, AreRedWhenNoneOfTheirCasesFailed) {
  const auto report = judged({{waiver_of("alone")}, "2026-12-31"}, Status::kPass, Status::kPass);
  EXPECT_EQ(report.waivers[0].state, WaiverState::kUnexpectedPass);
  EXPECT_EQ(report.cases[0].status, Status::kUnexpectedPass);
  EXPECT_EQ(report.cases[1].status, Status::kPass);
  EXPECT_EQ(report.totals.cases[Status::kUnexpectedPass], 1);
  EXPECT_EQ(make_verdict(report, Level::kSchedule, 1).exit_code, 1);
}

TEST(Waivers, AreMerelyUnusedWhereNotAllCasesRan) {
  const auto report =
      judged({{waiver_of("alone")}, "2026-12-31"}, Status::kPass, Status::kPass, false);
  EXPECT_EQ(report.waivers[0].state, WaiverState::kUnused);
  EXPECT_EQ(make_verdict(report, Level::kSchedule, 1).exit_code, 0);
}

TEST(Waivers, NeitherProveNorHideWhatProvesNothing) {
  const auto report = judged({{waiver_of(".")}, "2026-12-31"}, Status::kVacuous, Status::kFail);
  EXPECT_EQ(report.cases[0].status, Status::kVacuous);
  EXPECT_EQ(report.cases[1].status, Status::kWaived);
}

/// What is said of a file with this text.
std::string refusal(const std::string& text) {
  const auto file = std::filesystem::path(testing::TempDir()) / "waivers.json";
  std::ofstream(file) << text;
  try {
    load_waivers(file, "2026-12-31");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Waivers, AreForDecodersTooByTheirNames) {
  Waivers waivers({waiver_of("^decoder\\.tiny/bf16$")}, "2026-12-31");
  report::DecoderRow row{.question = {.preset = "tiny", .dtype = DType::kBFloat16},
                         .status = Status::kFail};
  EXPECT_EQ(waivers.applied(row).status, Status::kWaived);
  EXPECT_EQ(waivers.rows()[0].waived, 1);
  row.question.dtype = DType::kFloat32;
  EXPECT_EQ(waivers.applied(row).status, Status::kFail) << "another decoder";

  Waivers stale({waiver_of("^decoder")}, "2026-12-31");
  row.status = Status::kPass;
  report::Report report;
  report.decoder = {stale.applied(row)};
  report.waivers = stale.rows();
  settle_waivers(report, true);
  EXPECT_EQ(report.decoder[0].status, Status::kUnexpectedPass);
  EXPECT_EQ(report.waivers[0].state, WaiverState::kUnexpectedPass);
}

TEST(Waivers, AreForModelsTooByTheirNames) {
  Waivers waivers({waiver_of("^pi0 tiny bf16$")}, "2026-12-31");
  report::ModelRow row{
      .model = "pi0", .preset = "tiny", .dtype = DType::kBFloat16, .status = Status::kFail};
  EXPECT_EQ(waivers.applied(row).status, Status::kWaived);
  EXPECT_EQ(waivers.rows()[0].waived, 1);
  row.preset = "tiny-ragged";
  EXPECT_EQ(waivers.applied(row).status, Status::kFail) << "another model";

  Waivers stale({waiver_of("^pi0 ")}, "2026-12-31");
  row.status = Status::kPass;
  report::Report report;
  report.run.complete = true;
  report.models = {stale.applied(row)};
  report.waivers = stale.rows();
  settle_waivers(report, true);
  EXPECT_EQ(report.models[0].status, Status::kUnexpectedPass);
  EXPECT_EQ(report.waivers[0].state, WaiverState::kUnexpectedPass);
  EXPECT_EQ(make_verdict(report, Level::kSchedule, 1).text,
            "does not conform: no case fails of waiver '^pi0 '; take it out");
}

TEST(Waivers, LetARunOfWaivedModelsConformAndBeNoCertificate) {
  report::Report report;
  report.run.complete = true;
  report.run.strength = "standard";
  report.models = {
      {.model = "pi0", .preset = "tiny", .dtype = DType::kBFloat16, .status = Status::kFail}};
  EXPECT_EQ(make_verdict(report, Level::kSchedule, 1).exit_code, 1);
  Waivers waivers({waiver_of("pi0")}, "2026-12-31");
  report.models[0] = waivers.applied(report.models[0]);
  const report::Verdict verdict = make_verdict(report, Level::kSchedule, 1);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_THAT(verdict.why_not_certifiable, testing::ElementsAre("waived cases"));
  report.models.push_back(
      {.model = "pi0", .preset = "tiny", .dtype = DType::kFloat32, .status = Status::kFail});
  EXPECT_THAT(make_verdict(report, Level::kSchedule, 1).text,
              HasSubstr("1 red cases; first pi0 tiny fp32"));
}

TEST(LoadWaivers, ReadsAListAndSaysWhatIsWrongWithAnother) {
  const std::string rest = R"(,"reason":"r","owner":"o","expires":"2027-01-31"})";
  EXPECT_EQ(refusal(R"([{"pattern":"mm")" + rest + "]"), "");
  EXPECT_THAT(refusal("[{" + rest.substr(1) + "]"), HasSubstr("either a case or a pattern"));
  EXPECT_THAT(refusal(R"([{"pattern":"(")" + rest + "]"), HasSubstr("no regular expression"));
  EXPECT_THAT(refusal(R"([{"case":"mm")" + rest + "]"), HasSubstr("mm"));
  EXPECT_THAT(refusal(R"([{"patern":"mm")" + rest + "]"), HasSubstr("pattern"));
  EXPECT_THAT(refusal(R"([{"pattern":"m","reason":"r","owner":"o","expires":"2027-02-30"}])"),
              HasSubstr("no day"));
  EXPECT_THAT(refusal(R"([{"pattern":"m")" + rest + R"(,{"pattern":"m")" + rest + "]"),
              HasSubstr("twice"));
}

TEST(Day, IsTheOneThatIsNamed) {
  EXPECT_EQ(day("2026-12-31"), "2026-12-31");
  EXPECT_THROW(day("2026-13-01"), UsageError);
  EXPECT_THROW(day("tomorrow"), UsageError);
}

}  // namespace
}  // namespace bic

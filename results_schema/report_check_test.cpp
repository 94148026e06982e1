#include "results_schema/report_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results_schema/report_example.h"

namespace bic::report {
namespace {

using testing::HasSubstr;

Report conforming_report() {
  Report r = example_report();
  r.cases[1].status = Status::kWaived;
  r.failures.clear();
  r.decoder[0] = example_held_decoder();
  r.waivers[0] = {r.cases[1].case_name, "", "#12", "me", "2026-12-31", 1, 0, WaiverState::kUsed};
  for (Counters* counters : {&r.totals.cases, &r.ops[0].cases}) {
    (*counters)[Status::kFail] = 0;
    (*counters)[Status::kWaived] = 1;
  }
  r.verdict.conforms = true;
  r.verdict.exit_code = 0;
  return r;
}

TEST(CheckReport, AcceptsTheExamples) {
  EXPECT_EQ(check_report(example_report()), "");
  EXPECT_EQ(check_report(conforming_report()), "");
}

TEST(CheckTotals, SeesCountersThatDoNotSumToPlanned) {
  Report r = example_report();
  r.totals.planned = 6;
  EXPECT_EQ(check_totals(r), "totals: the counters sum to 5, but 6 cases were planned");
}

TEST(CheckTotals, SeesOpsThatDisagree) {
  Report r = example_report();
  r.ops[0].cases[Status::kPass] = 0;
  EXPECT_EQ(check_totals(r), "totals: pass is 1, but the ops give 0");
}

TEST(CheckTotals, SeesACaseThatIsMissing) {
  Report r = example_report();
  r.cases.pop_back();
  EXPECT_EQ(check_totals(r), "totals: fail is 1, but the listed cases give 0");
}

TEST(CheckTotals, SeesACaseOfAnotherStatus) {
  Report r = example_report();
  r.cases[1].status = Status::kPass;
  EXPECT_EQ(check_totals(r), "totals: fail is 1, but the listed cases give 0");
}

TEST(CheckTotals, LetsSkippedCasesBeLeftOutButNotInvented) {
  Report r = example_report();
  CaseResult skipped = example_pass();
  skipped.status = Status::kSkipped;
  r.cases.push_back(skipped);
  EXPECT_EQ(check_totals(r), "");
  r.cases.insert(r.cases.end(), 3, skipped);
  EXPECT_EQ(check_totals(r), "totals: skipped is 3, but the listed cases give 4");
}

TEST(CheckVerdict, SeesRedThatConforms) {
  for (std::size_t i = 0; i < kStatusCount; ++i) {
    const auto status = static_cast<Status>(i);
    Report r = conforming_report();
    r.totals.cases[status] += 1;
    const bool bad = is_red(status) || status == Status::kError;
    EXPECT_EQ(check_verdict(r).empty(), !bad) << name(status);
  }
}

TEST(CheckVerdict, SeesAnExitCodeThatDisagrees) {
  Report r = conforming_report();
  r.verdict.exit_code = 3;
  EXPECT_THAT(check_verdict(r), HasSubstr("conforms is true, but the exit code is 3"));
  r = example_report();
  r.verdict.exit_code = 0;
  EXPECT_THAT(check_verdict(r), HasSubstr("conforms is false, but the exit code is 0"));
}

TEST(CheckVerdict, SeesACompleteRunWithAReasonNotToBe) {
  Report r = example_report();
  r.run.complete = true;
  EXPECT_THAT(check_verdict(r), HasSubstr("incomplete_reason is 'budget of 60s'"));
  r.run.complete = false;
  r.run.incomplete_reason = "";
  EXPECT_THAT(check_verdict(r), HasSubstr("complete is false"));
}

TEST(CheckVerdict, SeesAShardThatIsCertifiable) {
  Report r = conforming_report();
  r.verdict.certifiable = true;
  EXPECT_EQ(check_verdict(r), "verdict: a shard is certifiable");
  r.run.shard.reset();
  EXPECT_EQ(check_verdict(r), "");
}

TEST(CheckShard, SeesNumbersThatCannotBe) {
  Report r = example_report();
  r.run.shard->index = 5;
  EXPECT_EQ(check_report(r), "shard: there is no 5 of 4");
  r = example_report();
  r.run.shard->rows = {7, 8};
  EXPECT_EQ(check_report(r), "shard: 2 places for 1 rows of ops");
  r.ops.push_back(example_op());
  r.run.shard->rows = {7, 7};
  EXPECT_EQ(check_shard(r), "shard: the places of its rows do not ascend");
}

TEST(CheckWaivers, SeesWaivedCasesWithoutAWaiver) {
  Report r = conforming_report();
  r.waivers.clear();
  EXPECT_EQ(check_report(r), "waivers: 1 cases are waived, but they have 0");
  r = conforming_report();
  r.waivers[0].waived = 0;
  EXPECT_THAT(check_report(r), HasSubstr("used with 0 waived cases"));
  r.waivers[0].state = WaiverState::kUnexpectedPass;
  EXPECT_THAT(check_report(r), HasSubstr("unexpected_pass, yet the report conforms"));
  r.waivers[0].pattern = "mm";
  EXPECT_THAT(check_report(r), HasSubstr("not of a case or else a pattern"));
}

TEST(CheckCases, SeesACaseTwice) {
  Report r = example_report();
  r.cases.push_back(r.cases[0]);
  EXPECT_THAT(check_cases(r), HasSubstr("case twice: mm.alone"));
}

TEST(CheckCases, SeesAFailureWithoutReason) {
  Report r = example_report();
  r.cases[1].reasons.clear();
  EXPECT_THAT(check_cases(r), HasSubstr("without a reason: mm.alone"));
}

TEST(CheckCases, SeesAPassWithADetail) {
  Report r = example_report();
  r.cases[0].detail = Detail{};
  EXPECT_THAT(check_cases(r), HasSubstr("yet has a detail: mm.alone"));
}

TEST(CheckCases, SeesANameThatIsNotCanonical) {
  Report r = example_report();
  r.cases[0].case_name = "mm.alone/bf16:k064:B1#1:fill=ones:s=0000000000000001";
  EXPECT_THAT(check_cases(r), HasSubstr("field 'dims'"));
}

TEST(CheckDecoder, SeesAVerdictThatItsAnswersDeny) {
  Report r = conforming_report();
  r.decoder[0] = example_decoder();
  EXPECT_EQ(check_report(r), "verdict: conforms with decoder tiny bf16 of status fail");
  r.decoder[0].status = Status::kPass;
  EXPECT_EQ(check_report(r), "decoder tiny bf16: pass with an answer that varies");
}

struct Wrong {
  void (*spoil)(Report&);
  const char* says;
};

TEST(CheckModels, SeesWhatTheyCannotSay) {
  const Wrong wrongs[] = {
      {[](Report& r) { r.run.shard->index = 2, r.decoder.clear(); }, "models: in shard 2"},
      {[](Report& r) { r.models.push_back(r.models[0]); }, "pi0 tiny bf16 is there twice"},
      {[](Report& r) { r.models[0].status = Status::kFail; }, "fail without a reason"},
      {[](Report& r) { r.models[0].accuracy.reset(); }, "pass without tensors"},
      {[](Report& r) { r.models[0].accuracy->beyond = 1; }, "pass with a tensor beyond its bound"},
      {[](Report& r) { r.models[0].status = Status::kCrash; }, "crash with tensors"},
      {[](Report& r) {
         r.models[0].status = Status::kUnexpectedPass, r.models[0].accuracy->beyond = 1;
       },
       "unexpected_pass with a tensor beyond its bound"},
      {[](Report& r) { r.models[0].accuracy->beyond = 1'000'000; }, "pass with more tensors"},
      {[](Report& r) { r.models[0].accuracy->worst.share_ppm = 2'000'000; },
       "pass with another worst tensor"},
  };
  for (const Wrong& wrong : wrongs) {
    Report r = example_report();
    wrong.spoil(r);
    EXPECT_THAT(check_report(r), HasSubstr(wrong.says));
  }
}

TEST(CheckModels, SeesAVerdictThatTheirTensorsDeny) {
  Report r = conforming_report();
  r.models[0].status = Status::kFail;
  r.models[0].reasons = {Reason::kAccuracy};
  EXPECT_EQ(check_report(r), "pi0 tiny bf16: fail with no tensor beyond its bound");
  r.models[0].accuracy->beyond = 1;
  r.models[0].accuracy->worst.share_ppm = 2'000'000;
  EXPECT_EQ(check_report(r), "verdict: conforms with pi0 tiny bf16 of status fail");
  r.models[0].status = Status::kWaived;
  EXPECT_EQ(check_report(r), "waivers: 2 cases are waived, but they have 1");
  r.models[0].accuracy.reset();
  r.models[0].status = Status::kError;
  EXPECT_EQ(check_report(r), "verdict: conforms with pi0 tiny bf16 of status error");
}

TEST(CheckDecoder, SeesWhatItCannotSay) {
  const Wrong wrongs[] = {
      {[](Report& r) { r.run.shard->index = 2; }, "decoder: in shard 2, not in the first"},
      {[](Report& r) { r.decoder.push_back(r.decoder[0]); }, "tiny bf16 is there twice"},
      {[](Report& r) { r.decoder[0].reasons.clear(); }, "fail without a reason"},
      {[](Report& r) { r.decoder[0].answer.reset(); }, "fail without an answer"},
      {[](Report& r) { r.decoder[0].status = Status::kTimeout; }, "timeout with an answer"},
      {[](Report& r) { r.decoder[0].status = Status::kVacuous; }, "vacuous with an answer that"},
      {[](Report& r) { r.decoder[0].answer = example_held_decoder().answer; }, "does not vary"},
  };
  for (const Wrong& wrong : wrongs) {
    Report r = example_report();
    wrong.spoil(r);
    EXPECT_THAT(check_report(r), HasSubstr(wrong.says));
  }
}

struct WrongFailure {
  void (*spoil)(Report&);
  const char* says;
};

TEST(CheckFailures, SeesWhatIsNoFailureMadeSmall) {
  const WrongFailure wrongs[] = {
      {[](Report& r) { r.failures[0].found = r.failures[0].shrunk.case_name; }, "in no case"},
      {[](Report& r) { r.failures[0].found = r.cases[0].case_name; }, "not red"},
      {[](Report& r) { r.failures[0].shrunk.status = Status::kUnstable; }, "another status"},
      {[](Report& r) { r.failures[0].shrunk.reasons = {Reason::kAccuracy}; }, "other reasons"},
      {[](Report& r) { r.failures[0].note = "unstable"; }, "despite a note"},
      {[](Report& r) { r.failures[0].shrunk.case_name.replace(3, 5, "twins"); }, "another kind"},
      {[](Report& r) { r.failures[0].shrunk.case_name = "mm"; }, "case string"},
  };
  for (const WrongFailure& wrong : wrongs) {
    Report r = example_report();
    wrong.spoil(r);
    EXPECT_THAT(check_failures(r), HasSubstr(wrong.says));
  }
}

}  // namespace
}  // namespace bic::report

#include "harness/judge/decoder_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/right_answer.h"
#include "harness/judge/verdict.h"

namespace bic {
namespace {

using report::DecoderAnswer;
using report::DecoderRow;
using testing::EndsWith;
using testing::HasSubstr;

report::DecoderQuestion question() {
  return {.preset = "tiny",
          .dtype = DType::kFloat32,
          .seed = {7},
          .requests = 200,
          .others = 40,
          .new_tokens = 16,
          .threads = 1};
}

DecoderRow judged(void (*spoil)(DecoderAnswer&)) {
  DecoderAnswer answer = right_answer(question());
  spoil(answer);
  return judge_decoder(question(), answer);
}

DecoderRow held() {
  return judged([](DecoderAnswer&) {});
}

TEST(JudgeDecoder, PassesOneAnswerOfABusyServer) {
  const DecoderRow row = held();
  EXPECT_EQ(row.status, Status::kPass);
  EXPECT_TRUE(row.reasons.empty());
  EXPECT_EQ(row.message, "200 requests: 1 completion, 3508 of 3508 log-probabilities equal");
}

struct Wrong {
  void (*spoil)(DecoderAnswer&);
  const char* says;
};

TEST(JudgeDecoder, IsRedWhereAnythingVaries) {
  const Wrong wrongs[] = {
      {[](DecoderAnswer& a) { a.distinct = 2; }, "200 requests: 2 completions, 3508 of 3508"},
      {[](DecoderAnswer& a) {
         a.first_token = {3, 1, 6, 9};
       },
       "first other token: 9 for 6 at position 1 of request 3"},
      {[](DecoderAnswer& a) {
         a.first_logit = {2, 0, 17, "0x3ff0000000000000", "0x3ff8000000000000"};
       },
       "first other logit: 1.5 for 1, of token 17 at position 0 of request 2"},
      {[](DecoderAnswer& a) { a.different = 8, a.largest = "0x1p-20"; },
       "3500 of 3508 log-probabilities equal (off by up to 9.5e-07)"},
      // Red before vacuous: a difference is one under no load too.
      {[](DecoderAnswer& a) { a.distinct = 2, a.traffic = {}; }, "2 completions"},
  };
  for (const Wrong& wrong : wrongs) {
    const DecoderRow row = judged(wrong.spoil);
    EXPECT_EQ(row.status, Status::kFail) << wrong.says;
    EXPECT_EQ(row.reasons, std::vector{Reason::kBits}) << wrong.says;
    EXPECT_THAT(row.message, HasSubstr(wrong.says));
  }
}

TEST(JudgeDecoder, IsVacuousWhereTheServerWasIdleOrServedLess) {
  const Wrong wrongs[] = {
      {[](DecoderAnswer& a) { a.traffic.largest_batch = 1; }, "no two requests were in one batch"},
      {[](DecoderAnswer& a) { a.traffic.mixed_passes = 0; }, "beside single tokens"},
      {[](DecoderAnswer& a) { a.traffic.cut_prompts = 0; }, "in chunks"},
      {[](DecoderAnswer& a) { a.traffic.reused_tokens = 0; }, "reused"},
      {[](DecoderAnswer& a) { a.requests = 199; }, "served than asked for"},
      {[](DecoderAnswer& a) { a.tokens = 0; }, "served than asked for"},
      {[](DecoderAnswer& a) { a.alone.pop_back(); }, "served than asked for"},
  };
  for (const Wrong& wrong : wrongs) {
    const DecoderRow row = judged(wrong.spoil);
    EXPECT_EQ(row.status, Status::kVacuous) << wrong.says;
    EXPECT_EQ(row.reasons, std::vector{Reason::kWitness}) << wrong.says;
    EXPECT_THAT(row.message, EndsWith(wrong.says));
  }
}

report::Verdict verdict(const std::vector<DecoderRow>& rows, bool with_ops) {
  report::Report report;
  report.run.complete = true;
  report.decoder = rows;
  if (with_ops) {
    report.ops.push_back({.op = "mm", .dtype = DType::kFloat32, .level = Level::kSchedule});
  }
  return make_verdict(report, Level::kSchedule, 7);
}

TEST(VerdictOnDecoders, FailsWithARedOneAndIsUnprovedWithAVacuousOne) {
  const DecoderRow red = judged([](DecoderAnswer& a) { a.distinct = 2; });
  const DecoderRow idle = judged([](DecoderAnswer& a) { a.traffic.largest_batch = 1; });
  for (const bool with_ops : {false, true}) {
    EXPECT_EQ(verdict({held(), held()}, with_ops).exit_code, 0);
    EXPECT_EQ(verdict({held(), red}, with_ops).exit_code, 1);
    EXPECT_EQ(verdict({held(), idle}, with_ops).exit_code, 3);
    EXPECT_EQ(verdict({idle, red}, with_ops).exit_code, 1);
    EXPECT_THAT(verdict({held(), red}, with_ops).text,
                HasSubstr("1 red cases; first decoder tiny fp32: 200 requests: 2 completions"));
    EXPECT_THAT(verdict({held(), idle}, with_ops).text, HasSubstr("not proved: decoder tiny fp32"));
  }
}

TEST(VerdictOnDecoders, SaysHowManyHold) {
  EXPECT_EQ(verdict({held(), held()}, false).text,
            "temperature 0 on 2 of 2 decoders (quick: not certifiable)");
  EXPECT_EQ(verdict({held()}, true).text,
            "BI-3 on 1 of 7 ops (quick: not certifiable); temperature 0 on 1 of 1 decoder");
}

TEST(VerdictOnDecoders, CountsNoneThatTheBackendCannotBeAsked) {
  const DecoderRow outside{.question = question(), .status = Status::kUnsupported};
  EXPECT_EQ(verdict({outside}, true).text, "BI-3 on 1 of 7 ops (quick: not certifiable)");
  EXPECT_EQ(verdict({outside}, false).exit_code, 3);
}

}  // namespace
}  // namespace bic

#include "adapters/protocol/messages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "results_schema/error.h"

namespace bic::protocol {
namespace {

using nlohmann::json;

/// JSON of a message, read back and written again.
template <class Message>
json twice(const Message& message) {
  const json first = message;
  return first.get<Message>();
}

TEST(Messages, AHelloSurvivesTheWire) {
  Hello hello{.backend = "b",
              .device = "cpu",
              .fingerprint = {{"torch", "2.11"}},
              .libraries = {"lib.so"},
              .default_threads = 2,
              .manifest = {},
              .absent = {{"pi0", "another torch"}}};
  hello.manifest.push_back({.op = "mm",
                            .dtypes = {DType::kBFloat16},
                            .arithmetic = {{DType::kBFloat16, {.form = "ax+b", .source = "s"}}},
                            .own = {"aten::mm"},
                            .stock_reason = "",
                            .lacks = {Form::kInplace}});
  EXPECT_EQ(json(hello), twice(hello));
  const auto back = json(hello).get<Hello>();
  EXPECT_EQ(back.manifest[0].arithmetic, hello.manifest[0].arithmetic);
  EXPECT_EQ(back.manifest[0].own, hello.manifest[0].own);
  EXPECT_EQ(back.manifest[0].lacks, hello.manifest[0].lacks);
  EXPECT_EQ(back.absent, hello.absent);
}

TEST(Messages, AProblemSurvivesTheWire) {
  const ProblemMessage problem{.op = "mm",
                               .variant = "v",
                               .dtype = DType::kFloat16,
                               .dims = {{"k", 7}},
                               .attributes = {{"eps", "0x1p-10"}},
                               .calls = {{"functional", "(y) = aten::mm.default(x, w)"}},
                               .inputs = {{"x", {"B", "k"}, "fp16", 64, 128, true}},
                               .output = {"y", {"B"}, "bool"},
                               .reduced = {"k"},
                               .pool_bytes = 1024,
                               .output_bytes = 2048};
  EXPECT_EQ(json(problem), twice(problem));
  EXPECT_EQ(json(problem).get<ProblemMessage>().inputs[0].pool_stride, 128);
  EXPECT_TRUE(json(problem).get<ProblemMessage>().inputs[0].masks);
  EXPECT_FALSE(json(problem).get<ProblemMessage>().output.masks);
  EXPECT_EQ(json(problem).get<ProblemMessage>().output.elements, "bool");
}

TEST(Messages, ATrialSurvivesTheWire) {
  TrialMessage trial{.slots = {4, 0, 4}, .trial = {}, .threads = 3};
  trial.trial.offset = 5;
  trial.trial.row_gap = 2;
  trial.trial.storage = Storage::kExpanded;
  trial.trial.form = Form::kOut;
  trial.trial.pad_dim = "k";
  trial.trial.pad = 8;
  const auto back = json(trial).get<TrialMessage>();
  EXPECT_EQ(json(trial), json(back));
  EXPECT_EQ(back.trial.batch, 3) << "the batch is the number of slots";
}

TEST(Messages, OnlyAGraphIsToldTheNumberOfItsReplay) {
  TrialMessage trial{.slots = {0}, .trial = {}, .threads = 1};
  trial.trial.run = 1;
  EXPECT_FALSE(json(trial).contains("replay")) << "repeats are to be told apart by nobody";
  trial.trial.form = Form::kGraph;
  EXPECT_EQ(json(trial).get<TrialMessage>().trial.run, 1);
}

TEST(Messages, AReplySurvivesTheWire) {
  TrialReply reply{.outcome = Outcome::kRefused,
                   .message = "no",
                   .dtype = "fp32",
                   .shape = {2, 3},
                   .unwritten = 1,
                   .input_changed = true,
                   .out_of_bounds = true,
                   .witness = {}};
  reply.witness = {.address_mod_64 = {4},
                   .strides = {{3, 1}},
                   .shapes = {{2, 3}},
                   .input_digest = 0xfedcba9876543210,
                   .form = "out",
                   .calls = 7,
                   .gave_output = true,
                   .largest_team = 2,
                   .reached = {"aten::mm.out"}};
  EXPECT_EQ(json(reply), twice(reply));
}

TEST(Messages, UnknownNamesAreRefused) {
  json trial = TrialMessage{};
  trial["storage"] = "diagonal";
  EXPECT_THROW(trial.get<TrialMessage>(), HarnessError);
  json problem = ProblemMessage{};
  problem["dtype"] = "fp8";
  EXPECT_THROW(problem.get<ProblemMessage>(), HarnessError);
  json reply = TrialReply{};
  reply["outcome"] = "perhaps";
  EXPECT_THROW(reply.get<TrialReply>(), HarnessError);
}

}  // namespace
}  // namespace bic::protocol

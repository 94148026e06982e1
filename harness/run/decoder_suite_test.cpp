#include "harness/run/decoder_suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/fake_worker/fake_run.h"
#include "harness/plan/shard_choice.h"
#include "harness/run/merge.h"
#include "harness/run/run.h"

namespace bic {
namespace {

using testing::HasSubstr;

/// A folder of its own, removed at the end.
class Decoders : public testing::Test {
 protected:
  ~Decoders() override { std::filesystem::remove_all(folder_); }

  RunOptions options(const std::string& behaviour, SelectionText text = {}) {
    RunOptions o;
    o.backend = fake::launch(behaviour, true);
    text.suites.emplace_back("decoder");
    o.selection = make_selection(text);
    o.out = folder_ / std::to_string(runs_++);
    o.timed = false;
    o.shrink = false;
    o.command_line = "bi-conform of a test";
    return o;
  }

  report::Report run(const RunOptions& o) {
    run_suite(o);
    return report::load_report(o.out / "report.json");
  }

  /// The report of a run of tiny in fp32 alone.
  report::Report run_one(const std::string& behaviour) {
    RunOptions o = options(behaviour, {.dtypes = {"fp32"}, .presets = {"tiny"}});
    if (behaviour == "hangs-decoding") o.backend.timeout = std::chrono::milliseconds(500);
    return run(o);
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("bi-conform-decoder-test-" + std::to_string(getpid()));
  int runs_ = 0;
};

struct Outcome {
  const char* behaviour;
  Status status;
  int exit_code;
  const char* says;
};

TEST_F(Decoders, AreJudgedByWhatTheWorkerSaysOrDoes) {
  const Outcome outcomes[] = {
      {"decodes", Status::kPass, 0, "200 requests: 1 completion, 3508 of 3508"},
      {"decodes-otherwise", Status::kFail, 1, "first other token: 9 for 6"},
      {"decodes-idly", Status::kVacuous, 3, "no two requests were in one batch"},
      {"decodes-nonsense", Status::kCrash, 1, "malformed"},
      {"throws-decoding", Status::kCrash, 1, "out of tokens"},
      {"dies-decoding", Status::kCrash, 1, "signal"},
      {"hangs-decoding", Status::kTimeout, 1, "no answer within 500 ms"},
      {"honest", Status::kUnsupported, 3, "makes no study 'decoder'"},
  };
  for (const Outcome& o : outcomes) {
    const report::Report report = run_one(o.behaviour);
    ASSERT_EQ(report.decoder.size(), 1u) << o.behaviour;
    EXPECT_EQ(report.decoder[0].status, o.status) << o.behaviour;
    EXPECT_THAT(report.decoder[0].message, HasSubstr(o.says)) << o.behaviour;
    EXPECT_EQ(report.verdict.exit_code, o.exit_code) << report.verdict.text;
    EXPECT_TRUE(report.run.complete) << o.behaviour;
  }
}

TEST_F(Decoders, GoOnAfterADeath) {
  const report::Report report = run(options("dies-decoding"));
  ASSERT_EQ(report.decoder.size(), 4u);
  for (const auto& row : report.decoder) EXPECT_EQ(row.reasons, std::vector{Reason::kSignal});
}

// Nothing can be asked: the budget does not allow it.
TEST_F(Decoders, AreTakenFromTheJournalOfARunThatIsResumed) {
  RunOptions o = options("decodes-otherwise");
  const report::Report undisturbed = run(o);
  std::filesystem::remove(o.out / "report.json");
  o.resume = true;
  o.budget = std::chrono::milliseconds(0);
  EXPECT_EQ(fake::timeless(run(o)), fake::timeless(undisturbed));
  EXPECT_THROW(run_suite(o), UsageError) << "it is complete";
}

TEST_F(Decoders, AreCutByABudgetAndSaySo) {
  RunOptions o = options("decodes");
  o.budget = std::chrono::milliseconds(0);
  const report::Report report = run(o);
  EXPECT_EQ(report.verdict.exit_code, 3);
  EXPECT_EQ(report.run.incomplete_reason,
            "out of budget after 0 of 0 problems and 0 of 4 decoders");
}

TEST_F(Decoders, BelongToTheFirstShard) {
  const SelectionText text{.ops = {"mm"},
                           .dtypes = {"fp32", "fp64"},
                           .relations = {"repeat", "accuracy"},
                           .batches = "1,3",
                           .suites = {"ops"}};
  const report::Report whole = run(options("decodes", text));
  EXPECT_EQ(whole.decoder.size(), 2u);
  std::vector<ShardReport> shards;
  for (const std::int64_t index : {1, 2}) {
    RunOptions o = options("decodes", text);
    o.shard = report::Shard{.index = index, .count = 2, .source = "--shard"};
    shards.push_back({o.out, run(o)});
    EXPECT_EQ(shards.back().report.decoder.empty(), index == 2);
  }
  report::Report merged = merge_shards(std::move(shards), false);
  merged.shards.clear();
  EXPECT_EQ(fake::timeless(merged), fake::timeless(whole));
}

TEST(DecoderQuestions, FollowPresetsAndDtypes) {
  const auto asked = [](SelectionText text) {
    std::string all;
    for (const auto& q : decoder_questions(make_selection(text), Seed{7})) {
      all += q.preset + "/" + std::string(name(q.dtype)) + " ";
    }
    return all;
  };
  EXPECT_EQ(asked({}), "tiny/fp32 tiny/bf16 tiny-ragged/fp32 tiny-ragged/bf16 ");
  EXPECT_EQ(asked({.dtypes = {"bf16", "fp16"}}), "tiny/bf16 tiny-ragged/bf16 ");
  EXPECT_EQ(asked({.ops = {"mm"}}), "");
  EXPECT_EQ(asked({.suites = {"public"}}), "");
  EXPECT_EQ(asked({.dtypes = {"fp32"}, .suites = {"decoder"}, .presets = {"gemma-2b"}}),
            "gemma-2b/fp32 ");
}

}  // namespace
}  // namespace bic

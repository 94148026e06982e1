#include "harness/run/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/fake_worker/fake_run.h"
#include "harness/plan/shard_choice.h"
#include "harness/run/run.h"
#include "results_schema/error.h"
#include "results_schema/report_check.h"

namespace bic {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// Two shards of a run that fails, and the run itself; made once.
class Merge : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    run({});
    run(report::Shard{.index = 1, .count = 2, .source = "--shard"});
    run(report::Shard{.index = 2, .count = 2, .source = "--shard"});
    kept_ = read_shards({folder()});
  }
  static void TearDownTestSuite() { fs::remove_all(folder()); }

  static fs::path folder() {
    return fs::path(testing::TempDir()) / ("bi-conform-merge-test-" + std::to_string(getpid()));
  }

  static void run(const std::optional<report::Shard>& shard) {
    RunOptions o;
    o.backend = fake::launch("by-batch", true);
    o.selection = make_selection({.ops = {"mm", "softmax"},
                                  .dtypes = {"fp32", "bf16"},
                                  .relations = {"alone", "repeat", "accuracy"},
                                  .batches = "1,3,9"});
    o.shard = shard;
    o.out = shard ? folder() / folder_of(*shard) : folder() / "whole";
    o.timed = false;
    o.shrink = false;
    o.command_line = "bi-conform of a test";
    run_suite(o);
  }

  /// What merging says of the shards when they are spoilt in one way.
  template <class Spoil>
  static std::string error(Spoil spoil) {
    std::vector<ShardReport> shards = kept_;
    spoil(shards);
    try {
      merge_shards(std::move(shards), false);
      return "merged";
    } catch (const UsageError& e) {
      return e.what();
    }
  }

  static inline std::vector<ShardReport> kept_;
};

TEST_F(Merge, GivesTheReportOfTheWholeRunButForTimes) {
  const report::Report whole = report::load_report(folder() / "whole/report.json");
  std::vector<ShardReport> shards = kept_;
  std::ranges::reverse(shards);
  report::Report merged = merge_shards(std::move(shards), false);
  EXPECT_EQ(merged.verdict.exit_code, 1);
  EXPECT_FALSE(merged.failures.empty());
  ASSERT_EQ(merged.shards.size(), 2u);
  EXPECT_EQ(merged.shards[1].index, 2);
  EXPECT_EQ(merged.run.duration_ns,
            std::max(merged.shards[0].duration_ns, merged.shards[1].duration_ns));
  merged.shards.clear();
  EXPECT_EQ(fake::timeless(merged), fake::timeless(whole));
}

TEST_F(Merge, TakesAShardsOwnVerdictForNoMore) {
  ASSERT_EQ(kept_.size(), 2u);
  for (const ShardReport& s : kept_) {
    EXPECT_EQ(s.report.ops.size(), 2u);
    EXPECT_EQ(s.report.run.shard->rows.size(), 2u);
    EXPECT_THAT(s.report.verdict.why_not_certifiable, testing::Contains(HasSubstr("shard ")));
  }
}

TEST_F(Merge, AcceptsARunThatWasNotSharded) {
  auto whole = read_shards({folder() / "whole"});
  report::Report merged = merge_shards(whole, false);
  merged.shards.clear();
  EXPECT_EQ(fake::timeless(merged), fake::timeless(whole[0].report));
}

TEST_F(Merge, RefusesShardsThatDoNotBelongTogether) {
  using Shards = std::vector<ShardReport>;
  EXPECT_THAT(error([](Shards& s) { s[1].report.run.seed = Seed{7}; }),
              HasSubstr("seed: 000000000000b1c0 and 0000000000000007"));
  EXPECT_THAT(error([](Shards& s) { s[1].report.run.strength = "standard"; }),
              HasSubstr("strength: quick and standard"));
  EXPECT_THAT(error([](Shards& s) { s[1].report.run.plan[0] = 'x'; }), HasSubstr("plan: "));
  EXPECT_THAT(error([](Shards& s) { s[1].report.run.target = Level::kBatch; }),
              HasSubstr("level: BI-3 and BI-1"));
  EXPECT_THAT(error([](Shards& s) { s[1].report.subject.backend = "other"; }),
              HasSubstr("backend: by-batch and other"));
  EXPECT_THAT(error([](Shards& s) {
                s[1].report.subject.libraries.push_back({"a.so", "ff", 1});
              }),
              HasSubstr("library a.so: none and sha256 ff"));
  EXPECT_THAT(error([](Shards& s) { s[1].report.subject.fingerprint["order"] = "other"; }),
              HasSubstr("order: sequential and other"));
  EXPECT_THAT(error([](Shards& s) { s[1].report.subject.manifest = "[]"; }),
              HasSubstr("manifest: sha256 "));
  EXPECT_THAT(error([](Shards& s) { s[1].report.peer = s[1].report.subject; }),
              HasSubstr("peer: none and by-batch"));
  EXPECT_THAT(error([](Shards& s) {
                s[1].report.suite.declared = {{"fused", "ff"}};
              }),
              HasSubstr("declared op fused: none and ff"));
  EXPECT_THAT(error([](Shards& s) { s[1].report.run.shard->count = 3; }),
              HasSubstr("number of shards: 2 and 3"));
  EXPECT_THAT(error([](Shards& s) { s[0].report.suite.version = "0.0.1"; }),
              HasSubstr("is of suite version 0.0.1"));
}

TEST_F(Merge, RefusesWhatIsIncompleteOrThereTwice) {
  using Shards = std::vector<ShardReport>;
  EXPECT_THAT(error([](Shards& s) { s.pop_back(); }), HasSubstr("shard 2/2 is missing; run"));
  EXPECT_THAT(error([](Shards& s) { s.erase(s.begin()); }), HasSubstr("shard 1/2 is missing"));
  EXPECT_THAT(error([](Shards& s) { s.push_back(s[0]); }), HasSubstr("shard 1/2 is there twice"));
  EXPECT_THAT(error([](Shards& s) {
                s[1].report.run.complete = false;
                s[1].report.run.incomplete_reason = "interrupted";
              }),
              HasSubstr("shard 2/2: interrupted; run"));
  EXPECT_THAT(error([](Shards& s) {
                s[1].report = s[0].report;
                s[1].report.run.shard->index = 2;
              }),
              HasSubstr("is in two shards"));
  EXPECT_THAT(error([](Shards& s) { s[0].report.shards.resize(1); }),
              HasSubstr("is a merged report"));
}

TEST_F(Merge, OfAPartSaysWhatIsMissing) {
  const report::Report part = merge_shards({kept_[1]}, true);
  EXPECT_FALSE(part.run.complete);
  EXPECT_EQ(part.run.incomplete_reason, "shard 1/2 is missing");
  EXPECT_EQ(part.ops.size(), 2u);
  EXPECT_EQ(report::check_report(part), "");
}

TEST_F(Merge, OfDifferentMachinesIsNotCertifiable) {
  const auto why = [](const report::Report& r) { return r.verdict.why_not_certifiable; };
  EXPECT_THAT(why(merge_shards(kept_, false)),
              testing::Not(testing::Contains("different machines")));
  std::vector<ShardReport> shards = kept_;
  shards[1].report.environment.cpu = "another one";
  EXPECT_THAT(why(merge_shards(shards, false)), testing::Contains("different machines"));
  shards = kept_;
  shards[1].report.subject.fingerprint["cpu_capability"] = "AVX2";
  EXPECT_THAT(why(merge_shards(shards, false)), testing::Contains("different machines"));
}

TEST(ReadShards, NamesThePathThatHasNone) {
  try {
    read_shards({testing::TempDir()});
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds no report.json"));
  }
  EXPECT_THROW(read_shards({"/no/such/report.json"}), UsageError);
}

}  // namespace
}  // namespace bic

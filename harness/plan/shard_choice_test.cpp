#include "harness/plan/shard_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "results_schema/error.h"

namespace bic {
namespace {

using testing::HasSubstr;
using Set = std::map<std::string, std::string>;

Variables these(const Set& set) {
  return [set](const std::string& name) {
    const auto at = set.find(name);
    return at == set.end() ? std::nullopt : std::optional(at->second);
  };
}

/// "2/4 by --shard", "all", or the error.
std::string chosen(const std::string& flag, const Set& set = {}) {
  try {
    const auto shard = choose_shard(flag, these(set));
    return shard ? text_of(*shard) + " by " + shard->source : "all";
  } catch (const UsageError& error) {
    return error.what();
  }
}

const Set kBazel{{"TEST_SHARD_INDEX", "0"}, {"TEST_TOTAL_SHARDS", "2"}};
const Set kGTest{{"GTEST_SHARD_INDEX", "1"}, {"GTEST_TOTAL_SHARDS", "3"}};
const Set kTorchrun{{"RANK", "2"}, {"WORLD_SIZE", "4"}};
const Set kOpenMpi{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "5"}};
const Set kSlurmStep{{"SLURM_PROCID", "4"}, {"SLURM_STEP_NUM_TASKS", "6"}};
const Set kSlurmArray{{"SLURM_ARRAY_TASK_ID", "7"},
                      {"SLURM_ARRAY_TASK_COUNT", "7"},
                      {"SLURM_ARRAY_TASK_MIN", "1"},
                      {"SLURM_ARRAY_TASK_MAX", "7"}};
const Set kKubernetes{{"JOB_COMPLETION_INDEX", "6"}, {"BIC_TOTAL_SHARDS", "8"}};

TEST(ShardFlag, CountsFromOne) {
  EXPECT_EQ(chosen("1/4"), "1/4 by --shard");
  EXPECT_EQ(chosen("4/4"), "4/4 by --shard");
  EXPECT_EQ(chosen("1/1"), "all");
  EXPECT_EQ(chosen(""), "all");
}

TEST(ShardFlag, RefusesWhatIsNoShard) {
  for (const char* text : {"0/4", "5/4", "2", "2/", "/4", "2/4/4", "a/4", "-1/4", "1/0", "2 /4"}) {
    EXPECT_THAT(chosen(text), HasSubstr("'" + std::string(text) + "' is neither")) << text;
  }
}

TEST(ShardFlag, WinsAgainstEveryLauncher) {
  EXPECT_EQ(chosen("2/9", kBazel), "2/9 by --shard");
  EXPECT_EQ(chosen("none", kBazel), "all");
  EXPECT_EQ(chosen("none", {{"TEST_SHARD_INDEX", "x"}, {"TEST_TOTAL_SHARDS", "2"}}), "all");
}

TEST(ShardOfALauncher, IsTakenFromItsVariables) {
  EXPECT_EQ(chosen("", kBazel), "1/2 by TEST_SHARD_INDEX");
  EXPECT_EQ(chosen("", kGTest), "2/3 by GTEST_SHARD_INDEX");
  EXPECT_EQ(chosen("", kTorchrun), "3/4 by RANK");
  EXPECT_EQ(chosen("", kOpenMpi), "4/5 by OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(chosen("", kSlurmStep), "5/6 by SLURM_PROCID");
  EXPECT_EQ(chosen("", kSlurmArray), "7/7 by SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(chosen("", kKubernetes), "7/8 by JOB_COMPLETION_INDEX");
}

TEST(ShardOfALauncher, IsTheFirstThatHasOneOfSeveral) {
  Set set = kKubernetes;
  for (const Set& more : {kSlurmArray, kSlurmStep, kOpenMpi, kTorchrun, kGTest, kBazel}) {
    set.insert(more.begin(), more.end());
    EXPECT_EQ(chosen("", set), chosen("", more));
  }
  set["TEST_SHARD_INDEX"] = "0";
  set["TEST_TOTAL_SHARDS"] = "1";
  EXPECT_EQ(chosen("", set), chosen("", kGTest)) << "one shard is no shard";
}

TEST(ShardOfALauncher, IsNotMadeOfHalfAPair) {
  for (const Set& whole : {kBazel, kGTest, kTorchrun, kOpenMpi, kSlurmStep}) {
    for (const auto& [name, value] : whole) EXPECT_EQ(chosen("", {{name, value}}), "all") << name;
  }
  EXPECT_EQ(chosen("", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), "all")
      << "the batch script itself, which no other task runs";
  EXPECT_EQ(chosen("", {{"BIC_TOTAL_SHARDS", "4"}}), "all");
}

TEST(ShardOfALauncher, IsRefusedWhereItsNumbersCannotBe) {
  EXPECT_THAT(chosen("", {{"RANK", "4"}, {"WORLD_SIZE", "4"}}),
              HasSubstr("RANK: '4' is not a whole number from 0 to 3"));
  EXPECT_THAT(chosen("", {{"RANK", "senior"}, {"WORLD_SIZE", "4"}}), HasSubstr("'senior'"));
  EXPECT_THAT(chosen("", {{"RANK", "0"}, {"WORLD_SIZE", "0"}}), HasSubstr("WORLD_SIZE: '0'"));
  EXPECT_THAT(chosen("", {{"JOB_COMPLETION_INDEX", "0"}}), HasSubstr("set BIC_TOTAL_SHARDS"));
}

TEST(ShardOfAnArray, CountsItsIdsInTurn) {
  Set set{{"SLURM_ARRAY_TASK_ID", "7"},
          {"SLURM_ARRAY_TASK_COUNT", "4"},
          {"SLURM_ARRAY_TASK_MIN", "1"},
          {"SLURM_ARRAY_TASK_MAX", "10"}};
  EXPECT_EQ(chosen("", set), "3/4 by SLURM_ARRAY_TASK_ID");
  set["SLURM_ARRAY_TASK_MAX"] = "12";  // 1, 3, 7 and 12, say
  EXPECT_THAT(chosen("", set), HasSubstr("not evenly spaced; give --shard"));
}

TEST(ShardOfBazel, IsConfirmedByTheFileThatItNames) {
  const std::filesystem::path file = testing::TempDir() + "shard_choice_test.status";
  std::filesystem::remove(file);
  Set set = kBazel;
  set["TEST_SHARD_STATUS_FILE"] = file;
  EXPECT_EQ(chosen("none", set), "all");
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(chosen("", set), "1/2 by TEST_SHARD_INDEX");
  EXPECT_TRUE(std::filesystem::remove(file));
  set["TEST_SHARD_STATUS_FILE"] = "/no/such/folder/file";
  EXPECT_THAT(chosen("", set), HasSubstr("'/no/such/folder/file' cannot be written"));
}

}  // namespace
}  // namespace bic

#include "harness/plan/shard_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "harness/files/typed.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr std::int64_t kMostShards = 100'000;

/// What a launcher sets in each process that it starts; indices count from 0.
struct Launcher {
  const char* index;
  const char* count;
  const char* confirm = nullptr;  ///< names a file whose existence says that shards are understood
};

// The innermost launcher first: what runs inside another's process says more than that one. Not
// SLURM_NTASKS: a batch script has it beside SLURM_PROCID=0, and is alone all the same.
constexpr Launcher kLaunchers[] = {
    {"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", "TEST_SHARD_STATUS_FILE"},
    {"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_STATUS_FILE"},
    {"RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

std::int64_t read(const Variables& variables,
                  const std::string& name,
                  std::int64_t least,
                  std::int64_t most) {
  const std::string text = variables(name).value_or("");
  if (const auto value = whole_number(text, most, least)) return *value;
  throw UsageError(
      fmt::format("{}: '{}' is not a whole number from {} to {}; correct it, or give --shard none",
                  name,
                  text,
                  least,
                  most));
}

std::optional<report::Shard> shard_of(std::int64_t index_from_0,
                                      std::int64_t count,
                                      std::string source) {
  if (count == 1) return {};
  return report::Shard{
      .index = index_from_0 + 1, .count = count, .source = std::move(source), .rows = {}};
}

std::optional<report::Shard> from_launcher(const Launcher& l, const Variables& variables) {
  if (!variables(l.index) || !variables(l.count)) return {};
  const std::int64_t count = read(variables, l.count, 1, kMostShards);
  const auto shard = shard_of(read(variables, l.index, 0, count - 1), count, l.index);
  const auto file = l.confirm == nullptr ? std::nullopt : variables(l.confirm);
  if (shard && file && !std::ofstream(*file, std::ios::app)) {
    throw UsageError(fmt::format("{}: '{}' cannot be written", l.confirm, *file));
  }
  return shard;
}

/// The ids of a job array may begin anywhere and go in steps, but none may be missing.
std::optional<report::Shard> from_slurm_array(const Variables& variables) {
  if (!variables("SLURM_ARRAY_TASK_ID") || !variables("SLURM_ARRAY_TASK_COUNT")) return {};
  constexpr std::int64_t kMostId = 4'000'000;
  const std::int64_t count = read(variables, "SLURM_ARRAY_TASK_COUNT", 1, kMostShards);
  const std::int64_t first = read(variables, "SLURM_ARRAY_TASK_MIN", 0, kMostId);
  const std::int64_t last = read(variables, "SLURM_ARRAY_TASK_MAX", first, kMostId);
  const std::int64_t id = read(variables, "SLURM_ARRAY_TASK_ID", first, last);
  const std::int64_t step =
      count == 1 ? 1 : std::max<std::int64_t>((last - first) / (count - 1), 1);
  if (first + step * (count - 1) != last || (id - first) % step != 0) {
    throw UsageError(fmt::format(
        "SLURM_ARRAY_TASK_ID: the array's {} ids from {} to {} are not evenly spaced; give --shard",
        count,
        first,
        last));
  }
  return shard_of((id - first) / step, count, "SLURM_ARRAY_TASK_ID");
}

/// Kubernetes tells a pod its index and not of how many.
std::optional<report::Shard> from_indexed_job(const Variables& variables) {
  if (!variables("JOB_COMPLETION_INDEX")) return {};
  if (!variables("BIC_TOTAL_SHARDS")) {
    throw UsageError(
        "JOB_COMPLETION_INDEX says which shard and nothing says of how many; set BIC_TOTAL_SHARDS "
        "to the job's completions, or give --shard none");
  }
  const std::int64_t count = read(variables, "BIC_TOTAL_SHARDS", 1, kMostShards);
  return shard_of(
      read(variables, "JOB_COMPLETION_INDEX", 0, count - 1), count, "JOB_COMPLETION_INDEX");
}

std::optional<report::Shard> from_flag(const std::string& text) {
  const auto slash = text.find('/');
  if (slash != std::string::npos) {
    const auto count = whole_number(std::string_view(text).substr(slash + 1), kMostShards);
    const auto index = whole_number(std::string_view(text).substr(0, slash), count.value_or(0));
    if (index) return shard_of(*index - 1, *count, std::string(kShardFlag));
  }
  throw UsageError(
      fmt::format("--shard: '{}' is neither I/N with I from 1 to N and N up to {}, as in 2/4, nor "
                  "'none'",
                  text,
                  kMostShards));
}

}  // namespace

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<report::Shard> choose_shard(const std::string& flag, const Variables& variables) {
  if (flag == "none") return {};
  if (!flag.empty()) return from_flag(flag);
  for (const Launcher& launcher : kLaunchers) {
    if (auto shard = from_launcher(launcher, variables)) return shard;
  }
  if (auto shard = from_slurm_array(variables)) return shard;
  return from_indexed_job(variables);
}

std::string text_of(const report::Shard& shard) {
  return fmt::format("{}/{}", shard.index, shard.count);
}

std::string folder_of(const report::Shard& shard) {
  return fmt::format("shard-{}-of-{}", shard.index, shard.count);
}

}  // namespace bic

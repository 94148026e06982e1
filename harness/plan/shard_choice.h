#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "results_schema/report.h"

namespace bic {

/// The source of a shard that was typed; others are launchers' variables.
inline constexpr std::string_view kShardFlag = "--shard";

/// The value of an environment variable; empty when it is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// Those of this process.
std::optional<std::string> variable(const std::string& name);

/// The part of the plan that this process takes, with its source and no rows yet; empty for all of
/// it. `flag` is the value of --shard: "2/4" (from 1), "none", or empty, in which case the first
/// launcher that has set a shard of several decides: Bazel, GoogleTest, torchrun, Open MPI, Slurm
/// (a step, then an array), a Kubernetes indexed job (docs/shards.md). To Bazel and GoogleTest it
/// confirms that it shards, by the file that they name. Throws UsageError that names the flag or
/// variable and its value.
std::optional<report::Shard> choose_shard(const std::string& flag, const Variables& variables);

/// "2/4", for people.
std::string text_of(const report::Shard& shard);

/// The folder under that of --out which is this shard's own: "shard-2-of-4".
std::string folder_of(const report::Shard& shard);

}  // namespace bic

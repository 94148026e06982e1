#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results_schema/report.h"

namespace bic {

/// A shard's report, and where it was read.
struct ShardReport {
  std::filesystem::path path;
  report::Report report;
};

/// Reads the reports that the paths name: each is a report.json, a folder that holds one, or a
/// folder of shards' folders as `--out` leaves it. Throws UsageError that names the path.
std::vector<ShardReport> read_shards(const std::vector<std::string>& paths);

/// The one report of all shards: what a single run of the whole plan would have written but for
/// times, and `shards`, which keeps each one's. Unless `partial`, none may be missing or cut short.
/// Throws UsageError that names the two reports which do not belong together and why, or what is
/// missing.
report::Report merge_shards(std::vector<ShardReport> shards, bool partial);

}  // namespace bic

#include <fmt/format.h>

#include "harness/cli/flags.h"
#include "harness/files/out_folder.h"
#include "harness/run/console.h"
#include "harness/run/merge.h"
#include "results_schema/error.h"

namespace bic {
namespace {

/// Throws UsageError where the merged report would take the place of a shard's.
void check_place(const std::filesystem::path& place, const std::vector<ShardReport>& shards) {
  for (const ShardReport& shard : shards) {
    std::error_code apart;
    if (!std::filesystem::equivalent(place, shard.path, apart)) continue;
    throw UsageError(
        fmt::format("--out: '{}' is the report of a shard; name another folder", place.string()));
  }
}

}  // namespace

int merge_verb(const Program& program, const Arguments& arguments) {
  CLI::App app("Makes one report of those of all shards.", "bi-conform merge");
  std::vector<std::string> paths;
  std::string out = "bi-conform-report";
  bool partial = false;
  app.add_option("path", paths, "report.json of each shard, its folder, or the folder of all")
      ->required();
  app.add_option("-o,--out", out, "folder of the merged report.json");
  app.add_flag("--partial", partial, "merge what there is; the run is then incomplete")
      ->disable_flag_override();
  parse(app, arguments);
  const auto path = std::filesystem::path(out) / "report.json";
  std::vector<ShardReport> shards = read_shards(paths);
  check_place(path, shards);
  report::Report merged = merge_shards(std::move(shards), partial);
  merged.run.command_line = fmt::format("bi-conform merge {}", fmt::join(arguments, " "));
  make_out_folder(out);
  report::save_report(merged, path);
  Console(stdout, program.typed, merged.run.repro_flags).whole(merged, path.string());
  return merged.verdict.exit_code;
}

}  // namespace bic

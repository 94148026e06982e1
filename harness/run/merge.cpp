#include "harness/run/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "harness/judge/control_tally.h"
#include "harness/judge/verdict.h"
#include "harness/judge/waivers.h"
#include "harness/plan/shard_choice.h"
#include "harness/run/merge_check.h"
#include "results_schema/case_name.h"
#include "results_schema/error.h"

namespace bic {
namespace {

namespace fs = std::filesystem;
using RowKey = std::pair<std::string, DType>;

/// The reports of the shards' folders in `folder`, as a run leaves them there.
std::vector<fs::path> shards_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable)) {
    const fs::path report = entry.path() / "report.json";
    const bool is_shard = entry.path().filename().string().starts_with("shard-");
    if (is_shard && fs::exists(report, unreadable)) found.push_back(report);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<fs::path> reports_at(const fs::path& path) {
  std::error_code unreadable;
  if (!fs::is_directory(path, unreadable)) return {path};
  std::vector<fs::path> found = shards_in(path);
  if (found.empty() && fs::exists(path / "report.json", unreadable)) found = {path / "report.json"};
  if (found.empty()) {
    throw UsageError(
        fmt::format("'{}' holds no report.json and no folder of a shard that does", path.string()));
  }
  return found;
}

/// A run of the whole plan is its only shard.
void complete_shard(report::Report& report) {
  if (report.run.shard) return;
  report.run.shard = report::Shard{};
  for (std::size_t row = 0; row < report.ops.size(); ++row) {
    report.run.shard->rows.push_back(static_cast<std::int64_t>(row));
  }
}

/// Puts what the shards list in the order of the plan's rows.
class Rows {
 public:
  void add(const report::Report& shard) {
    for (std::size_t i = 0; i < shard.ops.size(); ++i) {
      const report::OpRow& row = shard.ops[i];
      const std::int64_t place = shard.run.shard->rows[i];
      const bool is_new = places_.emplace(RowKey(row.op, row.dtype), place).second;
      if (!is_new || !rows_.emplace(place, row).second) {
        throw UsageError(
            fmt::format("row {} ({} {}) is in two shards", place, row.op, name(row.dtype)));
      }
    }
    for (const auto& c : shard.cases) cases_[place_of(c.case_name)].push_back(c);
    for (const auto& f : shard.failures) failures_[place_of(f.found)].push_back(f);
  }

  void move_to(report::Report& merged) {
    for (auto& [place, row] : rows_) merged.ops.push_back(std::move(row));
    for (auto& [place, cases] : cases_) std::ranges::move(cases, std::back_inserter(merged.cases));
    for (auto& [place, failures] : failures_) {
      std::ranges::move(failures, std::back_inserter(merged.failures));
    }
  }

 private:
  std::int64_t place_of(const std::string& case_text) const {
    const CaseName name = parse_case_name(case_text);
    const auto at = places_.find(RowKey(name.op, name.dtype));
    if (at == places_.end()) throw UsageError("case of no row: " + case_text);
    return at->second;
  }

  std::map<RowKey, std::int64_t> places_;
  std::map<std::int64_t, report::OpRow> rows_;
  std::map<std::int64_t, std::vector<report::CaseResult>> cases_;
  std::map<std::int64_t, std::vector<report::Failure>> failures_;
};

void add_counts(report::Report& merged, const report::Report& shard) {
  for (std::size_t s = 0; s < kStatusCount; ++s) {
    merged.totals.cases.by_status[s] += shard.totals.cases.by_status[s];
  }
  merged.totals.planned += shard.totals.planned;
  merged.coverage.required += shard.coverage.required;
  merged.coverage.executed += shard.coverage.executed;
  merged.coverage.counted += shard.coverage.counted;
  merged.coverage.planned += shard.coverage.planned;
  add_controls(merged.controls, shard.controls);
}

/// A merged run began with the first shard and took as long as the longest.
void add_run(report::Report& merged, const report::Report& shard) {
  const report::Run& run = shard.run;
  merged.shards.push_back({.index = run.shard->index,
                           .count = run.shard->count,
                           .command_line = run.command_line,
                           .started = run.started,
                           .duration_ns = run.duration_ns,
                           .environment = shard.environment,
                           .fingerprint = shard.subject.fingerprint});
  merged.run.started = std::min(merged.run.started, run.started);
  merged.run.duration_ns = std::max(merged.run.duration_ns, run.duration_ns);
  merged.run.killed_workers += run.killed_workers;
  // Shards may be judged by different builds of one version: then no single program did.
  if (shard.suite.program_sha256 != merged.suite.program_sha256) merged.suite.program_sha256 = "";
}

/// The shards' waivers are the same, as `check_belong_together` knows.
void add_waivers(report::Report& merged, const report::Report& shard) {
  for (std::size_t i = 0; i < merged.waivers.size(); ++i) {
    merged.waivers[i].waived += shard.waivers[i].waived;
    merged.waivers[i].passed += shard.waivers[i].passed;
  }
}

/// What all shards have in common; counts and lists are still empty.
report::Report in_common(const report::Report& first) {
  report::Report merged;
  merged.suite = first.suite;
  merged.subject = first.subject;
  merged.peer = first.peer;
  merged.environment = first.environment;
  merged.run = first.run;
  merged.run.shard.reset();
  merged.run.killed_workers = 0;
  merged.waivers = first.waivers;
  for (report::WaiverRow& w : merged.waivers) w.waived = w.passed = 0;
  return merged;
}

}  // namespace

std::vector<ShardReport> read_shards(const std::vector<std::string>& paths) {
  std::vector<ShardReport> shards;
  for (const std::string& path : paths) {
    for (const fs::path& file : reports_at(path)) {
      shards.push_back({file, report::load_report(file)});
    }
  }
  return shards;
}

report::Report merge_shards(std::vector<ShardReport> shards, bool partial) {
  for (ShardReport& s : shards) complete_shard(s.report);
  std::ranges::stable_sort(shards, {}, [](const auto& s) { return s.report.run.shard->index; });
  check_belong_together(shards);
  const std::string missing = what_is_missing(shards);
  if (!missing.empty() && !partial) {
    throw UsageError(missing + "; run that first, or give --partial");
  }
  const report::Report& first = shards.front().report;
  report::Report merged = in_common(first);
  Rows rows;
  for (const ShardReport& s : shards) {
    rows.add(s.report);
    add_counts(merged, s.report);
    add_run(merged, s.report);
    // `check_decoder` and `check_models` know them in the first shard only, and no shard is there
    // twice.
    std::ranges::copy(s.report.decoder, std::back_inserter(merged.decoder));
    std::ranges::copy(s.report.models, std::back_inserter(merged.models));
    add_waivers(merged, s.report);
  }
  rows.move_to(merged);
  merged.run.complete = missing.empty();
  merged.run.incomplete_reason = missing;
  settle_waivers(merged, merged.run.complete && !merged.run.filtered);
  merged.verdict = make_verdict(merged, merged.run.target, first.verdict.ops_total);
  return merged;
}

}  // namespace bic

#include "harness/judge/certifiable.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "harness/plan/shard_choice.h"
#include "results_schema/count_red.h"

namespace bic {
namespace {

/// Whether anything that can change a bit differs between the machines of a merged report. Each
/// verdict then holds of the machine that gave it, and of no single one together.
bool of_different_machines(const report::Report& report) {
  const auto machine = [](const report::ShardRun& s) {
    const report::Environment& e = s.environment;
    return std::tie(e.os, e.cpu, e.isa, e.cores, e.threads, e.variables, s.fingerprint);
  };
  return std::ranges::any_of(report.shards, [&](const report::ShardRun& s) {
    return machine(s) != machine(report.shards.front());
  });
}

}  // namespace

void set_certifiable(const report::Report& report, report::Verdict& v) {
  // A kernel that kills itself now and then looks the same.
  if (report.run.killed_workers > 0) v.why_not_certifiable.push_back("killed workers");
  if (const auto& shard = report.run.shard) {
    v.why_not_certifiable.push_back(fmt::format("shard {}", text_of(*shard)));
  }
  if (of_different_machines(report)) v.why_not_certifiable.push_back("different machines");
  if (report.run.strength == "quick") v.why_not_certifiable.push_back("quick");
  if (!report.run.suite.empty()) {
    v.why_not_certifiable.push_back("suite " + report.run.suite + " only");
  } else if (report.run.filtered) {
    v.why_not_certifiable.push_back("filtered");
  }
  if (count_waived(report) > 0) v.why_not_certifiable.push_back("waived cases");
  if (!report.run.complete) v.why_not_certifiable.push_back("incomplete");
  if (!v.conforms) v.why_not_certifiable.push_back("does not conform");
  v.certifiable = v.why_not_certifiable.empty();
}

}  // namespace bic

#include "harness/judge/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/judge/certifiable.h"
#include "harness/judge/decoder_judge.h"
#include "harness/judge/levels.h"
#include "harness/judge/model_rows.h"
#include "harness/judge/row_status.h"
#include "harness/plan/shapes.h"
#include "results_schema/case_name.h"
#include "results_schema/error.h"
#include "results_schema/op_rows.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

/// A level is the minimum over the manifest.
void set_level(const report::Report& report, Level target, report::Verdict& v) {
  std::set<std::string> held, short_of;
  v.level = std::ranges::any_of(report.ops, is_in_manifest) ? target : Level::kNone;
  for (const report::OpRow& row : report.ops) {
    if (!is_in_manifest(row)) continue;
    v.level = std::min(v.level, row.level);
    (row.level >= target ? held : short_of).insert(row.op);
  }
  v.ops_covered = static_cast<std::int64_t>(
      std::ranges::count_if(held, [&](const auto& op) { return !short_of.contains(op); }));
}

/// Whether nothing is open between the backend and its peer.
bool agrees(const report::OpRow& row) {
  const report::RelationRow* const peer = peer_row(row);
  return peer == nullptr || proved(*peer);
}

/// Ops that were compared with the peer in some dtype.
std::set<std::string> ops_of_both(const report::Report& report) {
  std::set<std::string> both;
  for (const report::OpRow& row : report.ops) {
    if (peer_row(row) != nullptr) both.insert(row.op);
  }
  return both;
}

/// With a peer, at least one op must have been compared with it (by the shards together), and all
/// that were must agree.
bool proves_peer(const report::Report& report) {
  if (!report.peer) return true;
  return std::ranges::all_of(report.ops, agrees) &&
         (report.run.shard || !ops_of_both(report).empty());
}

/// "; the same bits as libtorch on 7 ops" for a run with a peer.
std::string peer_text(const report::Report& report) {
  if (!report.peer) return "";
  const std::size_t ops = ops_of_both(report).size();
  return fmt::format(
      "; the same bits as {} on {} op{}", report.peer->backend, ops, ops == 1 ? "" : "s");
}

std::string first_gap(const report::Report& report, Level target) {
  for (const report::OpRow& row : report.ops) {
    if (is_in_manifest(row) && (!held_or_waived(row, target) || !agrees(row)))
      return fmt::format("{} {}: {}", row.op, name(row.dtype), row.why);
  }
  for (const std::string& gap : {first_open(report.decoder), first_open(report.models)}) {
    if (!gap.empty()) return gap;
  }
  if (report.ops.empty() && report.decoder.empty() && report.models.empty())
    return "nothing was judged";
  if (std::ranges::none_of(report.ops, is_in_manifest))
    return "nothing of it is in the backend's manifest";
  return proves_peer(report) ? "the run was cut"
                             : "no op is both in the backend's manifest and in its peer's";
}

/// "; 3 of 67 public reports fail: c01 c03 g02" where the run has cases that carry their ids.
std::string reports_text(const report::Report& report) {
  std::set<std::string> reports, all, failing;
  if (report.run.suite.empty()) return "";
  for (const ShapeRow& row : public_reports()) reports.insert(row.id);
  for (const report::CaseResult& result : report.cases) {
    if (result.status == Status::kUnsupported) continue;
    const std::string id = parse_case_name(result.case_name).id;
    if (!reports.contains(id)) continue;
    all.insert(id);
    if (is_red(result.status)) failing.insert(id);
  }
  if (all.empty()) return "";
  if (failing.empty()) return fmt::format("; all {} public reports hold", all.size());
  return fmt::format(
      "; {} of {} public reports fail: {}", failing.size(), all.size(), fmt::join(failing, " "));
}

/// Whether the ops hold the level, the decoders one answer and the models their bounds, as far as
/// they were asked, and any was.
bool holds(const report::Report& report, Level level, Level target) {
  const auto holds_it = [&](const auto& row) {
    return !is_in_manifest(row) || held_or_waived(row, target);
  };
  const bool ops = report.ops.empty()
                       ? !summary(report.decoder).empty() || !report.models.empty()
                       : level >= target || (std::ranges::any_of(report.ops, is_in_manifest) &&
                                             std::ranges::all_of(report.ops, holds_it));
  return ops && first_open(report.decoder).empty() && first_open(report.models).empty();
}

/// The waivers none of whose cases failed.
std::vector<std::string> stale_waivers(const report::Report& report) {
  std::vector<std::string> stale;
  for (const report::WaiverRow& w : report.waivers) {
    if (w.state == report::WaiverState::kUnexpectedPass) stale.push_back(w.cases());
  }
  return stale;
}

/// Of a run that does not conform, for the sake of its cases or else of its waivers.
std::string red_text(const report::Report& report, std::int64_t red, Level target) {
  const std::int64_t stale_models = count(report.models, Status::kUnexpectedPass);
  const std::int64_t failed = red - report.totals.cases[Status::kUnexpectedPass] -
                              count(report.decoder, Status::kUnexpectedPass) - stale_models;
  if (failed == 0) {
    return fmt::format("does not conform: no case fails of waiver '{}'; take it out",
                       stale_waivers(report).front());
  }
  return fmt::format("does not conform: {} red cases; first {}",
                     failed,
                     failed == count_red(report.models) - stale_models
                         ? first_open(report.models)
                         : first_gap(report, target)) +
         reports_text(report);
}

/// "BI-3 on 3 of 47 ops"; of a run of decoders or models alone what it says of them.
std::string covered_text(const report::Report& report, const report::Verdict& v) {
  if (report.ops.empty() && !report.decoder.empty()) return summary(report.decoder);
  if (report.ops.empty() && !report.models.empty()) return summary(report.models);
  return fmt::format("{} on {} of {} ops", name(v.level), v.ops_covered, v.ops_total);
}

/// Beside the ops.
std::string decoders_text(const report::Report& report) {
  const std::string text = report.ops.empty() ? "" : summary(report.decoder);
  return text.empty() ? "" : "; " + text;
}

std::string brackets(const report::Verdict& v) {
  if (v.certifiable) return " (" + v.strength + ")";
  std::vector<std::string> parts;
  for (const std::string& why : v.why_not_certifiable) {
    if (why != "does not conform") parts.push_back(why);
  }
  return fmt::format(" ({}: not certifiable)",
                     parts.empty() ? v.strength : fmt::to_string(fmt::join(parts, ", ")));
}

}  // namespace

bool held_or_waived(const report::OpRow& row, Level level) {
  if (row.level >= level) return true;
  bool excused = false;
  for (const report::RelationRow& r : row.relations) {
    const Relation* const relation = find_relation(r.relation);
    if (!r.required || (relation != nullptr && relation->level > level) || proved(r)) continue;
    if (r.excused == 0 || r.failed > 0) return false;
    excused = true;
  }
  return excused;
}

report::Verdict make_verdict(const report::Report& report, Level target, std::int64_t ops_total) {
  report::Verdict v{.strength = report.run.strength, .ops_total = ops_total};
  set_level(report, target, v);
  const std::int64_t red =
      count_red(report.totals.cases) + count_red(report.decoder) + count_red(report.models);
  const std::int64_t errors =
      report.totals.cases[Status::kError] + count(report.models, Status::kError);
  const bool proved = holds(report, v.level, target) && report.run.complete && proves_peer(report);
  const bool is_red = red > 0 || !stale_waivers(report).empty();
  v.conforms = !is_red && errors == 0 && proved;
  const ExitCode code = errors > 0 ? ExitCode::kHarnessError
                        : is_red   ? ExitCode::kDoesNotConform
                        : proved   ? ExitCode::kConforms
                                   : ExitCode::kUnproved;
  v.exit_code = static_cast<int>(code);
  set_certifiable(report, v);
  const std::string head = covered_text(report, v) + brackets(v);
  if (v.conforms)
    v.text = head + reports_text(report) + peer_text(report) + decoders_text(report);
  else if (errors > 0)
    v.text = fmt::format("harness error: {} cases could not be judged", errors);
  else if (is_red)
    v.text = red_text(report, red, target);
  else
    v.text = fmt::format("not proved: {}{}", first_gap(report, target), brackets(v));
  return v;
}

}  // namespace bic

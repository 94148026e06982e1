#include "harness/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/certifiable.h"
#include "results_schema/case_name.h"
#include "results_schema/error.h"
#include "suites/relations/relation.h"

namespace bic {
namespace {

bool required_of(const Cell& cell, const Relation& relation) {
  return std::ranges::any_of(
      cell.problems, [&](const ProblemPlan& p) { return relation.required(*cell.op, *p.variant); });
}

/// Whether the problem proves bits of `op`.
bool counts(const OpSpec& op, const Prepared& p) {
  const ControlKind kind = p.problem.proves();
  return !p.problem.accuracy && kind == op.control && kind != ControlKind::kValue;
}

void count_problem(report::Problems& problems, ControlKind kind) {
  switch (kind) {
    case ControlKind::kOrder:
      ++problems.order;
      break;
    case ControlKind::kTail:
      ++problems.tail;
      break;
    case ControlKind::kValue:
      ++problems.value;
      break;
    case ControlKind::kNone:
      ++problems.none;
      break;
  }
}

bool proved(const report::RelationRow& r) {
  return r.counted_problems >= kEnoughProblems && r.failed == 0;
}

/// What the row must show of the peer; null where there is none or it has not got the op.
const report::RelationRow* peer_row(const report::OpRow& row) {
  const auto at =
      std::ranges::find(row.relations, peer_relation().name, &report::RelationRow::relation);
  return at == row.relations.end() || !at->required ? nullptr : &*at;
}

/// Whether a problem's cases of one relation leave nothing open. A skipped one does not: it ran,
/// its bytes were equal, and no parallel region opened, so that threads could not have mattered
/// there. Nor do forms outside the manifest, beside one that is in it.
bool closed(const std::set<Status>& seen) {
  const auto leaves_nothing_open = [](Status s) {
    return s == Status::kPass || s == Status::kSkipped || s == Status::kUnsupported;
  };
  return std::ranges::all_of(seen, leaves_nothing_open) && seen != std::set{Status::kUnsupported};
}

}  // namespace

Evidence::Evidence(const Cell& cell) : op_(*cell.op) {
  row_.op = op_.name;
  row_.dtype = cell.dtype;
  for (const Relation& r : relations()) {
    row_.relations.push_back({.relation = std::string(r.name), .required = required_of(cell, r)});
  }
}

void Evidence::add(const Prepared& prepared, const std::vector<report::CaseResult>& results) {
  count_problem(row_.problems, prepared.problem.proves());
  std::map<std::string_view, std::set<Status>> seen;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Status status = results[i].status;
    ++row_.cases[status];
    const auto relation = prepared.cases[i].relation;
    seen[relation].insert(status);
    const bool compares = relation == peer_relation().name;
    const bool outside =
        status == Status::kUnsupported && (compares || writes_given(prepared.cases[i].named.form));
    (outside ? outside_ : within_).insert(std::string(relation));
    auto at = std::ranges::find(row_.relations, relation, &report::RelationRow::relation);
    if (compares && at == row_.relations.end()) {
      at = row_.relations.insert(at, {.relation = std::string(relation), .required = true});
    }
    if (at == row_.relations.end()) {
      if (is_red(status) && row_.why.empty()) row_.why = std::string(relation);
      continue;
    }
    at->passed += status == Status::kPass;
    at->failed += is_red(status) || status == Status::kError;
    at->vacuous += status == Status::kVacuous;
    at->skipped += status == Status::kSkipped;
  }
  if (!counts(op_, prepared)) return;
  for (report::RelationRow& r : row_.relations) {
    const auto at = seen.find(r.relation);
    if (at != seen.end() && closed(at->second)) ++r.counted_problems;
  }
}

void Evidence::note_error(std::optional<std::int64_t> worst_ppm) {
  if (worst_ppm) row_.worst_error_ppm = std::max(row_.worst_error_ppm.value_or(0), *worst_ppm);
}

report::OpRow Evidence::row(Level target) const {
  report::OpRow row = row_;
  row.level = Level::kNone;
  // A form that the backend's op has not got is not asked of it: the relation's trait. Nor is a
  // peer that has not got the op.
  for (report::RelationRow& r : row.relations) {
    r.required = r.required && (within_.contains(r.relation) || !outside_.contains(r.relation));
  }
  if (!row.why.empty()) {  // accuracy belongs to every level
    row.why += " failed";
    return row;
  }
  const auto red = std::ranges::find_if(row.relations, [&](const report::RelationRow& r) {
    return r.failed > 0 && find_relation(r.relation)->level <= target;
  });
  if (red != row.relations.end()) row.why = red->relation + " failed";
  for (Level level : {Level::kRepeatable, Level::kBatch, Level::kComposition, Level::kSchedule}) {
    if (level > target) break;
    for (const Relation& r : relations()) {
      if (r.level != level) continue;
      const auto& seen = *std::ranges::find(row.relations, r.name, &report::RelationRow::relation);
      if (!seen.required || proved(seen)) continue;
      if (row.why.empty()) row.why = std::string(r.name) + " unproved";
      return row;
    }
    row.level = level;
  }
  const report::RelationRow* const peer = peer_row(row);
  if (peer != nullptr && !proved(*peer) && row.why.empty()) row.why = "peer unproved";
  return row;
}

namespace {

/// Whether the op in that dtype is in the manifest: a level is the minimum over it.
bool claimed(const report::OpRow& row) {
  return row.cases.sum() == 0 || row.cases[Status::kUnsupported] < row.cases.sum();
}

void set_level(const report::Report& report, Level target, report::Verdict& v) {
  std::set<std::string> held, short_of;
  v.level = std::ranges::any_of(report.ops, claimed) ? target : Level::kNone;
  for (const report::OpRow& row : report.ops) {
    if (!claimed(row)) continue;
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
    if (claimed(row) && (row.level < target || !agrees(row)))
      return fmt::format("{} {}: {}", row.op, name(row.dtype), row.why);
  }
  if (report.ops.empty()) return "nothing was judged";
  if (std::ranges::none_of(report.ops, claimed))
    return "nothing of it is in the backend's manifest";
  return proves_peer(report) ? "the run was cut"
                             : "no op is both in the backend's manifest and in its peer's";
}

/// "; 3 of 67 public reports fail: c01 c03 g02" for a run of a named suite, whose cases carry ids.
std::string reports_text(const report::Report& report) {
  if (report.run.suite.empty()) return "";
  std::set<std::string> all, failing;
  for (const report::CaseResult& result : report.cases) {
    if (result.status == Status::kUnsupported) continue;
    const std::string id = parse_case_name(result.case_name).id;
    all.insert(id);
    if (is_red(result.status)) failing.insert(id);
  }
  const std::string suite = report.run.suite + " reports";
  if (failing.empty()) return fmt::format("; all {} {} hold", all.size(), suite);
  return fmt::format(
      "; {} of {} {} fail: {}", failing.size(), all.size(), suite, fmt::join(failing, " "));
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

std::int64_t count_red(const report::Counters& cases) {
  std::int64_t red = 0;
  for (std::size_t s = 0; s < kStatusCount; ++s) {
    if (is_red(static_cast<Status>(s))) red += cases.by_status[s];
  }
  return red;
}

report::Verdict make_verdict(const report::Report& report, Level target, std::int64_t ops_total) {
  report::Verdict v{.strength = report.run.strength, .ops_total = ops_total};
  set_level(report, target, v);
  const std::int64_t red = count_red(report.totals.cases);
  const std::int64_t errors = report.totals.cases[Status::kError];
  const bool proved =
      !report.ops.empty() && v.level >= target && report.run.complete && proves_peer(report);
  v.conforms = red == 0 && errors == 0 && proved;
  const ExitCode code = errors > 0 ? ExitCode::kHarnessError
                        : red > 0  ? ExitCode::kDoesNotConform
                        : proved   ? ExitCode::kConforms
                                   : ExitCode::kUnproved;
  v.exit_code = static_cast<int>(code);
  set_certifiable(report, v);
  const std::string head =
      fmt::format("{} on {} of {} ops", name(v.level), v.ops_covered, ops_total) + brackets(v);
  if (v.conforms)
    v.text = head + reports_text(report) + peer_text(report);
  else if (errors > 0)
    v.text = fmt::format("harness error: {} cases could not be judged", errors);
  else if (red > 0)
    v.text =
        fmt::format("does not conform: {} red cases; first {}", red, first_gap(report, target)) +
        reports_text(report);
  else
    v.text = fmt::format("not proved: {}{}", first_gap(report, target), brackets(v));
  return v;
}

}  // namespace bic

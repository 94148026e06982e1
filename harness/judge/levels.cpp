#include "harness/judge/levels.h"

#include <algorithm>
#include <set>

#include "suites/relations/relation.h"

namespace bic {
namespace {

bool required_of(const Cell& cell, const Relation& relation) {
  return std::ranges::any_of(
      cell.problems, [&](const ProblemPlan& p) { return relation.required(*cell.op, *p.variant); });
}

/// Whether a relation is asked for because of how the program was called, not of every backend.
bool is_of_this_run(std::string_view relation) {
  return relation == peer_relation().name ||
         std::ranges::any_of(device_relations(),
                             [&](const Relation& r) { return r.name == relation; });
}

/// The first relation of the level that the row has and that is required and unproved; or null.
const report::RelationRow* unproved(const report::OpRow& row, Level level, std::int64_t enough) {
  const auto it = std::ranges::find_if(row.relations, [&](const report::RelationRow& r) {
    return find_relation(r.relation)->level == level && r.required && !proved(r, enough);
  });
  return it == row.relations.end() ? nullptr : &*it;
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

/// A full-size model is tens of thousands of sums, each of which would show: its presets, which run
/// on request only, prove as much with one problem as ops do with five.
std::int64_t enough_problems(const Cell& cell) {
  const bool full_size = std::ranges::all_of(
      cell.problems, [](const ProblemPlan& p) { return p.variant->on_request; });
  return full_size ? 1 : kEnoughProblems;
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

bool proved(const report::RelationRow& r, std::int64_t enough) {
  return r.counted_problems >= enough && r.failed == 0 && r.excused == 0;
}

const report::RelationRow* peer_row(const report::OpRow& row) {
  const auto at =
      std::ranges::find(row.relations, peer_relation().name, &report::RelationRow::relation);
  return at == row.relations.end() || !at->required ? nullptr : &*at;
}

Evidence::Evidence(const Cell& cell) : op_(*cell.op), enough_(enough_problems(cell)) {
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
    const bool outside =
        status == Status::kUnsupported &&
        (relation == peer_relation().name || prepared.cases[i].named.form != Form::kFunctional);
    (outside ? outside_ : within_).insert(std::string(relation));
    auto at = std::ranges::find(row_.relations, relation, &report::RelationRow::relation);
    if (at == row_.relations.end() && is_of_this_run(relation)) {
      at = row_.relations.insert(at, {.relation = std::string(relation), .required = true});
    }
    if (at == row_.relations.end()) {
      const bool waived = status == Status::kWaived;
      if ((is_red(status) || waived) && row_.why.empty()) {
        row_.why = std::string(relation) + (waived ? " waived" : " failed");
      }
      continue;
    }
    at->passed += status == Status::kPass;
    at->failed += is_red(status) || status == Status::kError;
    at->vacuous += status == Status::kVacuous;
    at->skipped += status == Status::kSkipped;
    at->excused += status == Status::kWaived;
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
  if (!row.why.empty()) return row;  // accuracy belongs to every level
  const auto red = std::ranges::find_if(row.relations, [&](const report::RelationRow& r) {
    return r.failed > 0 && find_relation(r.relation)->level <= target;
  });
  if (red != row.relations.end()) row.why = red->relation + " failed";
  for (Level level : {Level::kRepeatable, Level::kBatch, Level::kComposition, Level::kSchedule}) {
    if (level > target) break;
    if (const report::RelationRow* const open = unproved(row, level, enough_)) {
      if (row.why.empty()) row.why = open->relation + (open->excused > 0 ? " waived" : " unproved");
      return row;
    }
    row.level = level;
  }
  const report::RelationRow* const peer = peer_row(row);
  if (peer != nullptr && !proved(*peer) && row.why.empty()) row.why = "peer unproved";
  return row;
}

}  // namespace bic

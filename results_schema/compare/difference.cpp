#include "results_schema/compare/difference.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace bic::report {
namespace {

/// Less than 1 % of the bound is not worth a line.
constexpr std::int64_t kLeastDrift = 10'000;

using RowKey = std::pair<std::string, DType>;

/// Rows of both reports, in the order of the new one.
std::vector<std::pair<const OpRow*, const OpRow*>> common_rows(const Report& before,
                                                               const Report& now) {
  std::map<RowKey, const OpRow*> then;
  for (const OpRow& row : before.ops) then.emplace(RowKey(row.op, row.dtype), &row);
  std::vector<std::pair<const OpRow*, const OpRow*>> rows;
  for (const OpRow& row : now.ops) {
    const auto at = then.find(RowKey(row.op, row.dtype));
    if (at != then.end()) rows.emplace_back(at->second, &row);
  }
  return rows;
}

/// A level that rests on waived cases is not held; the waivers answer for that, not for what became
/// vacuous beside them.
bool is_excused(const OpRow& row) {
  const auto is_open = [](const RelationRow& r) {
    return r.required && r.vacuous > 0 && r.excused == 0;
  };
  return row.cases[Status::kWaived] > 0 && std::ranges::none_of(row.relations, is_open);
}

std::vector<LevelDrop> level_drops(const Report& before, const Report& now) {
  std::vector<LevelDrop> drops;
  if (!same_plan(before, now)) return drops;
  for (const auto& [then, row] : common_rows(before, now)) {
    if (row->level >= then->level || is_excused(*row)) continue;
    drops.push_back({row->op, row->dtype, then->level, row->level, row->why});
  }
  std::ranges::stable_sort(drops, {}, &LevelDrop::now);
  return drops;
}

std::vector<AccuracyDrift> accuracy_drift(const Report& before, const Report& now) {
  std::vector<AccuracyDrift> drift;
  if (!same_plan(before, now)) return drift;
  for (const auto& [then, row] : common_rows(before, now)) {
    if (!then->worst_error_ppm || !row->worst_error_ppm) continue;
    const AccuracyDrift d{row->op, row->dtype, *then->worst_error_ppm, *row->worst_error_ppm};
    if (std::abs(d.now_ppm - d.before_ppm) >= kLeastDrift) drift.push_back(d);
  }
  std::ranges::stable_sort(drift, std::ranges::greater{}, [](const AccuracyDrift& d) {
    return d.now_ppm - d.before_ppm;
  });
  return drift;
}

/// Status and message.
using ModelState = std::pair<Status, std::string>;

/// Rows of models and decoders, which are not among the cases, by name.
std::map<std::string, ModelState> models_of(const Report& report) {
  std::map<std::string, ModelState> models;
  for (const DecoderRow& row : report.decoder) {
    models.emplace(name(row.question), ModelState(row.status, row.message));
  }
  for (const ModelRow& row : report.models) {
    models.emplace(name(row), ModelState(row.status, row.message));
  }
  return models;
}

std::vector<ModelChange> model_changes(const Report& before, const Report& now) {
  const auto then = models_of(before), today = models_of(now);
  std::map<std::string, ModelChange> all;
  for (const auto& [model, state] : then) all[model].before = state.first;
  for (const auto& [model, state] : today) {
    all[model].now = state.first;
    all[model].message = state.second;
  }
  std::vector<ModelChange> changes;
  for (auto& [model, change] : all) {
    change.name = model;
    const bool failed_anew = fails(change.now) && !fails(change.before);
    const bool was_lost = is_judged(change.before) && !is_judged(change.now);
    if (failed_anew || was_lost) changes.push_back(std::move(change));
  }
  return changes;
}

void compare_speed(const Report& before, const Report& now, Difference& difference) {
  difference.why_no_speed = why_no_speed(before, now);
  if (!difference.why_no_speed.empty()) return;
  for (const auto& [then, row] : common_rows(before, now)) {
    const auto change = speed_change(*then, *row);
    if (!change) continue;
    const bool is_slower = change->share_ppm > 1'000'000;
    auto& list = is_slower ? difference.slower : difference.faster;
    (change->sure ? list : difference.unsure).push_back(*change);
  }
  std::ranges::stable_sort(difference.slower, std::ranges::greater{}, &SpeedChange::time_ppm);
  std::ranges::stable_sort(difference.unsure, std::ranges::greater{}, &SpeedChange::share_ppm);
  std::ranges::stable_sort(difference.faster, {}, &SpeedChange::time_ppm);
}

void sort_waivers(const Report& now, Difference& difference) {
  for (const WaiverRow& w : now.waivers) {
    switch (w.state) {
      case WaiverState::kUsed:
        difference.used.push_back(w);
        break;
      case WaiverState::kUnexpectedPass:
        difference.stale.push_back(w);
        break;
      case WaiverState::kExpired:
        difference.expired.push_back(w);
        break;
      case WaiverState::kUnused:
        break;
    }
  }
}

}  // namespace

bool Difference::red() const {
  return !cases.failures.empty() || !cases.lost.empty() || !models.empty() || !missing.empty() ||
         !levels.empty() || !slower.empty() || !stale.empty();
}

Difference compare(const Report& before, const Report& now) {
  Difference difference{.cases = compare_cases(before, now)};
  difference.models = model_changes(before, now);
  difference.levels = level_drops(before, now);
  difference.drift = accuracy_drift(before, now);
  compare_speed(before, now, difference);
  sort_waivers(now, difference);
  return difference;
}

}  // namespace bic::report

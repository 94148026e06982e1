#include "harness/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/judge/compare.h"
#include "harness/judge/witness.h"
#include "results_schema/sha256.h"

namespace bic {
namespace {

constexpr int kReruns = 3;

/// Whether something in the trial is NaN that the sample under test must not see.
bool is_hostile(const PlannedTrial& t) { return t.trial.pad_nan || t.neighbour_law.has_value(); }

std::int64_t ppm_of(double error, double bound) {
  constexpr double kMost = 1e15;
  if (error == 0 || std::isinf(bound)) return 0;
  return static_cast<std::int64_t>(std::min(kMost, std::ceil(1e6 * error / bound)));
}

double error_of(double y, const Wide& oracle) {
  if (std::isnan(oracle.hi) || std::isinf(oracle.hi)) {
    const bool same = std::isnan(oracle.hi) ? std::isnan(y) : y == oracle.hi;
    return same ? 0 : std::numeric_limits<double>::infinity();
  }
  if (!std::isfinite(y)) return std::numeric_limits<double>::infinity();
  return std::fabs((y - oracle.hi) - oracle.lo);
}

}  // namespace

Judge::Judge(Prepared& prepared,
             const Promise& promise,
             const std::map<PlannedTrial, TrialResult>& results,
             bool second_process,
             std::function<TrialResult(const PlannedTrial&)> rerun)
    : prepared_(prepared),
      promise_(promise),
      results_(results),
      second_process_(second_process),
      rerun_(std::move(rerun)),
      output_axis_(batch_axis(prepared.problem.variant->output)),
      output_block_(block_shape(prepared.problem.variant->output, prepared.problem.dims)) {}

report::CaseResult Judge::judge(const Case& c) {
  report::CaseResult result{.case_name = c.name, .status = Status::kPass};
  result.inputs = prepared_.inputs_digest(c.named.sample);
  if (judge_ends(c, result)) return result;
  const TrialResult& a = results_.at(c.trial);
  Findings f;
  check_reply(c.trial, a, f);
  if (c.against) check_reply(*c.against, results_.at(*c.against), f);
  const bool comparable =
      !f.reasons.contains(Reason::kShape) && !f.reasons.contains(Reason::kDtype);
  if (comparable) {
    result.digest = sha256_hex(block(a, slot_of(c.trial, c.named)));
    if (c.against) compare(c, f);
    check_accuracy(c.trial, c.named, f);
    // The peer is not judged: where its bits are the backend's, so is its accuracy.
    if (c.against && !runs_on_peer(*c.against)) check_accuracy(*c.against, *c.named_against, f);
  }
  result.reasons.assign(f.reasons.begin(), f.reasons.end());
  if (!f.reasons.empty()) {
    result.status = f.unstable ? Status::kUnstable : Status::kFail;
    result.detail = std::move(f.detail);
  } else {
    check_vacuous(c, result);
  }
  return result;
}

void Judge::compare(const Case& c, Findings& f) {
  const TrialResult &a = results_.at(c.trial), &b = results_.at(*c.against);
  compare_slots(c, a, b, f);
  if (!f.reasons.contains(Reason::kBits) && !f.reasons.contains(Reason::kNanBits)) return;
  f.unstable =
      c.relation == "repeat" || disagrees_with_itself(c.trial) || disagrees_with_itself(*c.against);
}

/// The sample under test first, then every other sample that both batches hold. Batches that hold
/// the same samples in the same places are compared place by place: copies of a neighbour that
/// differ among themselves are no fault of `repeat` or `layout`.
void Judge::compare_slots(const Case& c,
                          const TrialResult& a,
                          const TrialResult& b,
                          Findings& f) const {
  const auto &in_a = prepared_.pool->positions(c.trial),
             &in_b = prepared_.pool->positions(*c.against);
  const Slot tested{c.named.sample, {}};
  const std::int64_t tested_at = slot_of(c.trial, c.named);
  const bool same_places = in_a == in_b;
  if (same_places && compare_blocks(a, tested_at, b, tested_at, f)) return;
  std::vector<Slot> common{tested};
  for (const auto& [slot, positions] : in_a.size() < in_b.size() ? in_a : in_b) {
    if (slot != tested && in_a.contains(slot) && in_b.contains(slot)) common.push_back(slot);
  }
  for (const Slot& slot : common) {
    for (std::int64_t position : in_a.at(slot)) {
      const std::int64_t other = same_places ? position : in_b.at(slot).front();
      if (!compare_blocks(a, position, b, other, f)) continue;
      if (slot != tested || position != tested_at) {
        f.detail.message =
            fmt::format("seen on sample #{} at position {}", slot.id.value, position);
      }
      return;
    }
  }
}

/// True when they differ, which is then noted.
bool Judge::compare_blocks(const TrialResult& a,
                           std::int64_t at_a,
                           const TrialResult& b,
                           std::int64_t at_b,
                           Findings& f) const {
  const auto d = compare_bytes(prepared_.problem.output_dtype(), block(a, at_a), block(b, at_b));
  if (d) describe(*d, f);
  return d.has_value();
}

void Judge::describe(const Difference& d, Findings& f) const {
  f.reasons.insert(d.only_nan_payloads ? Reason::kNanBits : Reason::kBits);
  f.detail.differing = d.differing;
  f.detail.total = d.total;
  f.detail.first_index = d.first;
  f.detail.bits_a = d.bits_a;
  f.detail.bits_b = d.bits_b;
  f.detail.ulps = d.ulps;
}

void Judge::check_accuracy(const PlannedTrial& trial, const Trial& named, Findings& f) {
  const SampleId sample = named.sample;
  const std::vector<std::byte> bytes = block(results_.at(trial), slot_of(trial, named));
  auto& accurate = accurate_[sample];
  if (std::ranges::find(accurate, bytes) != accurate.end()) return;
  const Yardstick& y = prepared_.yardstick(sample, promise_.arithmetic);
  std::vector<double> values(bytes.size() / size_of(prepared_.problem.output_dtype()));
  widen(prepared_.problem.output_dtype(), bytes, values);
  bool held = true;
  for (std::size_t i = 0; i < y.elements.size(); ++i) {
    const double value = values[y.elements[i]];
    const double error = error_of(value, y.oracle[i]);
    if (std::isnan(value) && !std::isnan(y.oracle[i].hi) && is_hostile(trial)) {
      f.reasons.insert(Reason::kNanLeak);
      held = false;
      continue;
    }
    worst_ = std::max(worst_.value_or(0), ppm_of(error, y.bound[i]));
    if (error <= y.bound[i]) continue;
    if (!f.reasons.contains(Reason::kAccuracy)) {
      f.detail.message =
          fmt::format("element [{}] is {:a}, the oracle says {:a}, the bound is {:a}",
                      y.elements[i],
                      value,
                      y.oracle[i].hi,
                      y.bound[i]);
    }
    held = false;
    f.reasons.insert(Reason::kAccuracy);
  }
  if (held) accurate.push_back(bytes);
}

bool Judge::disagrees_with_itself(const PlannedTrial& trial) {
  const auto [at, added] = disagrees_.try_emplace(trial, false);
  for (int i = 0; added && i < kReruns && !at->second; ++i) {
    const TrialResult again = rerun_(trial);
    at->second = again.death || (!again.blocked && again.output != results_.at(trial).output);
  }
  return at->second;
}

/// Whether agreement proves what the relation claims.
void Judge::check_vacuous(const Case& c, report::CaseResult& result) const {
  if (!c.against) return;
  const std::optional<Reason> why = unproved(c);
  if (!why) return;
  result.reasons = {*why};
  result.status = *why == Reason::kNoParallelRegion ? Status::kSkipped : Status::kVacuous;
}

std::optional<Reason> Judge::unproved(const Case& c) const {
  if (!prepared_.telling.told_apart) return Reason::kControls;
  if (c.trial.trial.worker == 1 && !second_process_) return Reason::kWitness;
  const Pool& pool = *prepared_.pool;
  const auto witness_of = [&](const PlannedTrial& t) -> const protocol::Witness& {
    return results_.at(t).reply.witness;
  };
  for (const PlannedTrial& t : {c.trial, *c.against}) {
    if (!shows_layout(pool.problem(), pool.request(t), witness_of(t))) return Reason::kWitness;
  }
  if (!shows_change(c.trial.trial, witness_of(c.trial), c.against->trial, witness_of(*c.against))) {
    return Reason::kWitness;
  }
  if (c.trial.trial.threads != 0) {
    const auto fault =
        thread_fault(threads_asked(c.trial.trial), witness_of(c.trial), witness_of(*c.against));
    if (fault) return fault;
  }
  if (!prepared_.problem.sweeps() && mostly_non_finite(c)) return Reason::kNonFinite;
  return {};
}

bool Judge::mostly_non_finite(const Case& c) const {
  const auto bytes = block(results_.at(c.trial), slot_of(c.trial, c.named));
  std::vector<double> values(bytes.size() / size_of(prepared_.problem.output_dtype()));
  widen(prepared_.problem.output_dtype(), bytes, values);
  const auto wild = std::ranges::count_if(values, [](double v) { return !std::isfinite(v); });
  return 10 * static_cast<std::size_t>(wild) > values.size();
}

std::vector<std::byte> Judge::block(const TrialResult& r, std::int64_t slot) const {
  const std::int64_t size = size_of(prepared_.problem.output_dtype());
  return block_of(r.output, r.reply.shape, output_axis_, output_block_, slot, size);
}

/// Where the sample under test stands: a permutation moves it.
std::int64_t Judge::slot_of(const PlannedTrial& trial, const Trial& named) const {
  const auto& positions = prepared_.pool->positions(trial).at({named.sample, {}});
  const bool as_named = std::ranges::binary_search(positions, named.position);
  return as_named ? named.position : positions.front();
}

}  // namespace bic

#include "harness/shrink/shrink_search.h"

#include <algorithm>

#include "harness/plan/case_check.h"
#include "results_schema/axis.h"
#include "results_schema/error.h"

namespace bic {
namespace {

// What a search for telling samples in vain is counted as: it takes longer than trials do.
constexpr int kVainSearch = 8;
// Samples that may show in other dims or under another law what one showed here.
constexpr std::size_t kOtherSamples = 3;
// Simplest first.
constexpr Law kSimpleLaws[] = {Law::kOnes, Law::kIntegers, Law::kUniform, Law::kNormal};
constexpr int kTeams[] = {1, 2, 3, 4, 8};

/// Dims may leave nothing of an axis like `2*ho+kh-2`.
bool has_elements(const CaseName& name) {
  const Problem problem = problem_of(name);
  const auto holds = [&](const TensorSpec& t) {
    return std::ranges::all_of(block_shape(t, problem.dims), [](auto e) { return e >= 1; });
  };
  return holds(problem.variant->output) && std::ranges::all_of(problem.variant->inputs, holds);
}

bool can_be_run(const CaseName& name) {
  try {
    check_case(name);
    return has_elements(name);
  } catch (const Error&) {
    return false;
  }
}

std::int64_t largest_batch(const CaseName& name) {
  return std::ranges::max_element(name.trials, {}, &Trial::batch)->batch;
}

std::int64_t last_position(const CaseName& name) {
  return std::ranges::max_element(name.trials, {}, &Trial::position)->position;
}

/// Both trials of most relations have one batch; the sample alone stays alone.
void set_batch(CaseName& name, std::int64_t batch) {
  const std::int64_t largest = largest_batch(name);
  for (Trial& t : name.trials) {
    if (t.batch != largest) continue;
    t.batch = batch;
    t.position = std::min(t.position, batch - 1);
  }
}

void set_position(CaseName& name, std::int64_t position) {
  const std::int64_t last = last_position(name);
  for (Trial& t : name.trials) {
    if (t.position == last) t.position = position;
  }
}

void set_sample(CaseName& name, SampleId sample) {
  for (Trial& t : name.trials) t.sample = sample;
}

}  // namespace

bool fails_alike(const report::CaseResult& result, const report::CaseResult& found) {
  if (result.status != found.status) return false;
  return found.reasons.empty() ||
         std::ranges::find(result.reasons, found.reasons[0]) != result.reasons.end();
}

ShrinkSearch::ShrinkSearch(Stage& stage,
                           const Promise& promise,
                           const report::CaseResult& found,
                           int most)
    : stage_(stage),
      promise_(promise),
      found_(found),
      current_(parse_case_name(found.case_name)),
      left_(most) {}

void ShrinkSearch::run() {
  if (!accept(current_)) return;
  do {
    while (lower_all()) {
    }
  } while (take_simpler_law());
}

/// True when something became smaller.
bool ShrinkSearch::lower_all() {
  const CaseName before = current_;
  lower_dims();
  lower_place();
  lower_options();
  return current_ != before;
}

/// What is summed over comes last: a short sum shows its order on few outputs, and would hold the
/// other dims up.
void ShrinkSearch::lower_dims() {
  const Dims dims = current_.dims;
  const auto& reduced = problem_of(current_).variant->reduced;
  for (const bool summed : {false, true}) {
    for (const auto& [dim, extent] : dims) {
      if ((std::ranges::find(reduced, dim) != reduced.end()) != summed) continue;
      lower(1, extent, [&](CaseName& c, std::int64_t value) { c.dims[dim] = value; });
    }
  }
}

void ShrinkSearch::lower_place() {
  lower(1, largest_batch(current_), set_batch);
  lower(0, last_position(current_), set_position);
}

void ShrinkSearch::lower_options() {
  for (std::size_t i = 0; i < current_.trials.size(); ++i) {
    const Trial t = current_.trials[i];
    const auto number = [&](auto member) {
      return [=](CaseName& c, std::int64_t value) {
        auto& lowered = c.trials[i].*member;
        lowered = static_cast<std::remove_reference_t<decltype(lowered)>>(value);
      };
    };
    lower(0, t.offset, number(&Trial::offset));
    lower(0, t.row_gap, number(&Trial::row_gap));
    lower(1, t.pad, number(&Trial::pad));
    CaseName simpler = current_;
    simpler.trials[i].pad_nan = false;
    accept(simpler);
    for (const int team : kTeams) {
      simpler = current_;
      simpler.trials[i].threads = team;
      const bool fewer = t.threads != 0 && (t.threads < 0 || team < t.threads);
      if (fewer && accept(simpler)) break;
    }
  }
  CaseName simpler = current_;
  simpler.neighbour_law.reset();
  accept(simpler);
}

/// True when the case has another law.
bool ShrinkSearch::take_simpler_law() {
  for (const Law law : kSimpleLaws) {
    if (law == current_.fill) break;
    CaseName simpler = current_;
    simpler.fill = law;
    if (accept_of_any_sample(simpler)) return true;
  }
  return false;
}

void ShrinkSearch::lower(std::int64_t least, std::int64_t now, const Change& change) {
  const auto holds = [&](std::int64_t value) {
    CaseName candidate = current_;
    change(candidate, value);
    return candidate.dims == current_.dims ? accept(candidate) : accept_of_any_sample(candidate);
  };
  if (now <= least || holds(least)) return;
  std::int64_t passes = least, fails = now;
  while (fails - passes > 1) {
    const std::int64_t middle = passes + (fails - passes) / 2;
    (holds(middle) ? fails : passes) = middle;
  }
}

/// In other dims and under other laws another sample may be the one that shows it.
bool ShrinkSearch::accept_of_any_sample(CaseName candidate) {
  telling_.clear();
  const Problem problem = problem_of(candidate), now = problem_of(current_);
  if (problem.sweeps() && now.sweeps() && can_be_run(candidate)) {
    // The sample that holds the input whose result differed.
    const std::int64_t first = result_->detail ? result_->detail->first_index.value_or(0) : 0;
    const std::int64_t input = current_.trials[0].sample.value * now.output_elements() + first;
    set_sample(candidate, {static_cast<std::uint32_t>(input / problem.output_elements())});
  }
  if (accept(candidate)) return true;
  return std::ranges::any_of(others_than(candidate.trials[0].sample), [&](SampleId sample) {
    set_sample(candidate, sample);
    return accept(candidate);
  });
}

/// Samples to try on the problem last prepared: those that tell its controls apart, then others.
std::vector<SampleId> ShrinkSearch::others_than(SampleId sample) const {
  if (telling_.empty()) return {};
  std::vector<SampleId> others = telling_;
  for (std::uint32_t id = 0; id <= kOtherSamples; ++id) {
    if (std::ranges::find(telling_, SampleId{id}) == telling_.end()) others.push_back({id});
  }
  std::erase(others, sample);
  others.resize(std::min(others.size(), kOtherSamples));
  return others;
}

/// Makes the candidate the current case when it fails as the found one does.
bool ShrinkSearch::accept(const CaseName& candidate) {
  const bool new_one = can_be_run(candidate) && tried_.insert(to_string(candidate)).second;
  const auto needed = static_cast<int>(candidate.trials.size());
  if (!new_one || died_ || needed > left_) return false;
  auto result = try_to_judge(candidate);
  if (!result || !fails_alike(*result, found_)) return false;
  current_ = candidate;
  result_ = std::move(result);
  return true;
}

/// A case that the harness itself cannot run, unlike all that its plans hold, is none to show.
std::optional<report::CaseResult> ShrinkSearch::try_to_judge(const CaseName& candidate) {
  try {
    return judge(candidate);
  } catch (const Error&) {
    return {};
  }
}

/// Without the reruns that tell noise: the smallest case is judged with them in the end. Empty
/// where agreement would prove nothing, so that what else holds on the problem means something.
std::optional<report::CaseResult> ShrinkSearch::judge(const CaseName& candidate) {
  const auto p = prepare_case(candidate);
  if (!p->telling.told_apart) {
    left_ -= kVainSearch;
    return {};
  }
  telling_ = p->telling.samples;
  std::map<PlannedTrial, TrialResult> results;
  run_undisturbed(stage_, [&] { results = sweep(stage_, *p); });
  left_ -= static_cast<int>(results.size());
  trials_ += static_cast<int>(results.size());
  for (const auto& [trial, result] : results) died_ = died_ || result.death.has_value();
  Judge judge(*p, promise_, results, stage_.isolated(), [&](const PlannedTrial& trial) {
    return results.at(trial);
  });
  return judge.judge(p->cases[0]);
}

}  // namespace bic

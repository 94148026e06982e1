#include "harness/plan/arrangement.h"

#include <algorithm>
#include <utility>

namespace bic {
namespace {

// Neighbours are drawn from a few ids per set; a batch may hold one twice.
constexpr std::uint32_t kNeighbours = 48;

SampleId neighbour(const Problem& problem, const Trial& t, std::int64_t slot) {
  Seed s = derive(derive(problem.seed, "neighbours"), static_cast<std::uint64_t>(t.neighbours));
  s = derive(derive(s, static_cast<std::uint64_t>(t.batch)), static_cast<std::uint64_t>(slot));
  const auto set = kFirstNeighbour * (1 + static_cast<std::uint32_t>(t.neighbours));
  return {set + static_cast<std::uint32_t>(s.value % kNeighbours)};
}

std::vector<Slot> company(const Problem& problem, const PlannedTrial& planned) {
  const Trial& t = planned.trial;
  std::vector<Slot> slots;
  for (std::int64_t i = 0; i < t.batch; ++i) {
    if (t.company == Company::kTwins) {
      slots.push_back({t.sample, {}});
    } else {
      slots.push_back({neighbour(problem, t, i), planned.neighbour_law});
    }
  }
  return slots;
}

/// The place that many after the last one of a batch is again its first.
std::int64_t wrapped(std::int64_t place, std::int64_t count) {
  return (place % count + count) % count;
}

/// Distance between telling samples in a batch.
std::int64_t step_of(const Trial& t, std::int64_t telling) {
  return std::max<std::int64_t>(1, t.batch / telling);
}

/// Whether telling samples would leave no place for the neighbours that the trial is about: the one
/// that it names then stands alone among them.
bool is_crowded(const Trial& t, std::int64_t telling) {
  return t.neighbours > 0 && t.batch <= telling;
}

/// Consecutive ids, so that the largest batch holds each input of the type once.
void place_sweep(const Problem& problem, const Trial& t, std::vector<Slot>& slots) {
  const std::int64_t count = sweep_samples(problem);
  const std::int64_t first = t.sample.value - t.position;
  for (std::int64_t i = 0; i < t.batch; ++i) {
    slots[i] = {SampleId{static_cast<std::uint32_t>(wrapped(first + i, count))}, {}};
  }
}

void place_telling(std::span<const SampleId> telling, const Trial& t, std::vector<Slot>& slots) {
  const auto count = static_cast<std::int64_t>(telling.size());
  const auto named = std::ranges::find(telling, t.sample) - telling.begin();
  slots[t.position] = {t.sample, {}};
  if (named == count) return;  // a case string of the user's own
  if (is_crowded(t, count)) return;
  for (std::int64_t j = 1; j < std::min(count, t.batch); ++j) {
    const std::int64_t which = t.batch >= count ? j - (j <= named) : (named + j) % count;
    const std::int64_t shift = t.batch >= count ? (which - named) * step_of(t, count) : j;
    slots[wrapped(t.position + shift, t.batch)] = {telling[which], {}};
  }
}

void shuffle(Seed seed, std::vector<Slot>& slots) {
  for (std::size_t i = slots.size(); i > 1; --i) {
    std::swap(slots[i - 1], slots[derive(seed, i).value % i]);
  }
}

}  // namespace

PlannedTrial planned(const Trial& trial, std::optional<Law> neighbour_law) {
  return {trial, trial.neighbours > 0 ? neighbour_law : std::nullopt};
}

std::vector<Slot> arrange(const Problem& problem,
                          std::span<const SampleId> telling,
                          const PlannedTrial& planned) {
  const Trial& t = planned.trial;
  std::vector<Slot> slots = company(problem, planned);
  if (t.company == Company::kTwins) return slots;
  if (problem.sweeps() && t.neighbours == 0) {
    place_sweep(problem, t, slots);
  } else {
    place_telling(telling, t, slots);
  }
  if (t.permutation > 0) {
    const std::vector<Slot> straight = slots;
    shuffle(derive(derive(problem.seed, "permutation"), static_cast<std::uint64_t>(t.permutation)),
            slots);
    // Of three samples every sixth shuffle would permute nothing.
    if (slots == straight) std::rotate(slots.begin(), slots.begin() + 1, slots.end());
  }
  return slots;
}

PlannedTrial canonical(const Problem& problem,
                       std::span<const SampleId> telling,
                       const PlannedTrial& planned) {
  PlannedTrial c = planned;
  Trial& t = c.trial;
  if (t.company == Company::kTwins) {
    t.position = 0;
  } else if (problem.sweeps() && t.neighbours == 0) {
    const std::int64_t first = t.sample.value - t.position;
    t.sample.value = static_cast<std::uint32_t>(wrapped(first, sweep_samples(problem)));
    t.position = 0;
  } else {
    const auto count = static_cast<std::int64_t>(telling.size());
    const auto named = std::ranges::find(telling, t.sample) - telling.begin();
    if (named == count || t.batch < count || is_crowded(t, count)) return c;
    t.position = wrapped(t.position - named * step_of(t, count), t.batch);
    t.sample = telling[0];
  }
  return c;
}

std::int64_t sweep_samples(const Problem& problem) {
  const std::int64_t elements = problem.output_elements();
  return (65536 + elements - 1) / elements;
}

}  // namespace bic

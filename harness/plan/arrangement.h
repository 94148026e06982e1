#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/plan/problem.h"

namespace bic {

/// A sample in a batch; `law` is set for a hostile neighbour.
struct Slot {
  SampleId id;
  std::optional<Law> law;
  auto operator<=>(const Slot&) const = default;
};

/// A trial and the law of its neighbours: what the worker runs once and several cases may share.
struct PlannedTrial {
  Trial trial;
  std::optional<Law> neighbour_law;  ///< only where the trial has a neighbour set above 0
  auto operator<=>(const PlannedTrial&) const = default;
};

/// Neighbours have this id and higher ones, far from those that the search for telling samples
/// visits.
inline constexpr std::uint32_t kFirstNeighbour = 1000;

PlannedTrial planned(const Trial& trial, std::optional<Law> neighbour_law);

/// Who stands where in a trial: a function of the problem, its telling samples and the trial alone,
/// so that a case string is enough to build it again. The telling samples stand in every batch that
/// has room, at equal distances; which of them the trial names does not change the batch. A trial
/// with other neighbours always has some: where there is too little room, one telling sample
/// stands.
std::vector<Slot> arrange(const Problem& problem,
                          std::span<const SampleId> telling,
                          const PlannedTrial& planned);

/// Problems among which the inputs of a 16-bit type are shared out. They differ in these bits of
/// the seed, the number of the share, which the values do not depend on.
inline constexpr std::int64_t kSweepShares = 6;
inline constexpr std::uint64_t kShareBits = 0xFFFF;

/// The one trial that stands for all that put the same samples in the same places: what is run once
/// for every case that names one of them.
PlannedTrial canonical(const Problem& problem,
                       std::span<const SampleId> telling,
                       const PlannedTrial& planned);

/// Number of samples that hold all inputs of a 16-bit type between them.
std::int64_t sweep_samples(const Problem& problem);

}  // namespace bic

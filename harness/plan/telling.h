#pragma once

#include <map>
#include <vector>

#include "harness/plan/problem.h"

namespace bic {

/// Outcome of the search for telling samples.
struct Telling {
  std::vector<SampleId> samples;  ///< one to three; one arbitrary sample when the search failed
  bool told_apart = false;        ///< every pair of controls differs on one of them
  int searched = 0;               ///< sample ids looked at
  std::int64_t compared = 0;      ///< outputs of the telling samples found on the way
  /// Of them, those that an order changes; pointwise ops have one other evaluation, kReversed.
  std::map<Order, std::int64_t> changed;
};

/// Searches the ids 0, 1, … for samples on which every pair of controls differs in some output bit:
/// at most 500 ids and 2^27 terms, never a clock, so that the outcome depends on the problem alone.
/// Problems that need no controls get their samples without a search.
Telling find_telling(const Inputs& inputs);

/// Indices of at most `count` output elements of a sample, spread evenly, first and last included.
std::vector<std::int64_t> spread_elements(std::int64_t total, std::int64_t count);

}  // namespace bic

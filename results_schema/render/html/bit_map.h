#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "results_schema/report.h"

namespace bic::report {

/// What the relation `alone` showed of one problem: which bits its samples have in which batch.
struct BitMap {
  /// Class of the bits in a cell where no output came.
  static constexpr int kNoOutput = -1;

  /// Of several samples the highest number of bits, and no output before any other.
  struct Cell {
    int bits = 0;  ///< 0: those of the sample alone; others by the smallest batch that has them
    int cases = 0;
  };

  /// Batch and position.
  using Place = std::pair<std::int64_t, std::int64_t>;

  std::string problem;  ///< "k4096,n1024 fill=cancel"
  std::map<Place, Cell> cells;
  std::set<Place> different;            ///< where a sample had other bits
  std::set<Place> without_output;       ///< where none came of a sample
  std::int64_t problems = 0;            ///< of the row, those with cases of `alone` that ran
  std::int64_t differing_problems = 0;  ///< of them, those with other bits
};

/// The map of the problem with the most places that differ, then the most without output, among
/// those of the given cases, which are of one op and dtype; empty when there is no such place.
std::optional<BitMap> bit_map(const std::vector<const CaseResult*>& cases);

}  // namespace bic::report

#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

  std::string problem;                                          ///< "k4096,n1024 fill=cancel"
  std::map<std::pair<std::int64_t, std::int64_t>, Cell> cells;  ///< by batch and position
  std::int64_t different = 0;                                   ///< cells with other bits or none
  std::optional<std::int64_t> first_batch;                      ///< the smallest with other bits
  std::int64_t problems = 0;            ///< of the row, those with cases of `alone`
  std::int64_t differing_problems = 0;  ///< of them, those that differ
};

/// The map of the problem with the most cells that differ among those of the given cases, which are
/// of one op and dtype; empty when none differs.
std::optional<BitMap> bit_map(const std::vector<const CaseResult*>& cases);

}  // namespace bic::report

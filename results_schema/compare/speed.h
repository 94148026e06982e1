#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results_schema/report.h"

namespace bic::report {

/// Blocks of the backend and of stock beside it that a run times of a row at once.
inline constexpr std::size_t kPairsOfOneMeasurement = 5;

/// How long one call takes of an op and dtype, against stock beside it.
struct SpeedChange {
  std::string op;
  DType dtype = DType::kFloat32;
  std::string shape;
  std::int64_t before_ppm = 0;  ///< median of the ratios to stock
  std::int64_t now_ppm = 0;
  std::int64_t time_ppm = 0;     ///< time now, of that before: 1,300,000 is 30 % slower
  std::size_t pairs_before = 0;  ///< ratios behind it
  std::size_t pairs_now = 0;
  std::int64_t stock_ppm = 0;  ///< time that stock takes now, of that before
  /// Stock's own time moved by at most half as much, as powers. Else the machine was in another
  /// state, busier say, and the change need not be the backend's.
  bool stock_held = false;
};

/// A change of speed: of at least 10 %, and beyond the spread of both. Each pair of neighbouring
/// blocks gives a ratio to stock, in which the machine's own speed cancels. The median of the
/// ratios of every measurement now must be that far from the median before, and the middle halves
/// of all ratios must not overlap. Empty where that does not hold, or the two timed different
/// calls.
std::optional<SpeedChange> speed_change(const OpRow& before, const OpRow& now);

/// Whether the median of the ratios, or the backend's own time, is a tenth worse than before:
/// reason enough to measure the call further, and for nothing else.
bool may_be_slower(const OpRow& before, const OpRow& now);

/// Why no speed of two reports can be compared, for people; empty where it can.
std::string why_no_speed(const Report& before, const Report& now);

}  // namespace bic::report

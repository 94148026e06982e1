#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results_schema/report.h"

namespace bic::report {

/// Blocks of the backend and of stock beside it that a run times of a row at once.
inline constexpr std::size_t kPairsOfOneMeasurement = 30;

/// Without as many no speed is compared.
inline constexpr std::size_t kFewestBlocks = 5;

/// How often a gate times a row that goes on looking slower, the first time included.
inline constexpr int kMostMeasurements = 9;

/// How long one call takes of an op and dtype, and of stock beside it. Times are those of the
/// fastest blocks: other work on the machine only ever adds to them.
struct SpeedChange {
  std::string op;
  DType dtype = DType::kFloat32;
  std::string shape;
  std::int64_t before_ns = 0;
  std::int64_t now_ns = 0;
  std::int64_t time_ppm = 0;   ///< time now, of that before: 1,300,000 is 30 % slower
  std::int64_t stock_ppm = 0;  ///< the same of stock
  std::int64_t share_ppm = 0;  ///< the first of the second: above 1,000,000 it is slower
  std::size_t blocks_before = 0;
  std::size_t blocks_now = 0;
  /// It is the backend's: its own time moved by a tenth too, and stock's by at most half as much in
  /// that direction, as powers. Else the machine was in another state, busier say.
  bool sure = false;
};

/// A change of speed by at least 10 %, as a share of stock's. Stock is the same code before and
/// now: what moves it moves the machine. Empty where the two timed different calls.
std::optional<SpeedChange> speed_change(const OpRow& before, const OpRow& now);

/// Whether the backend's fastest block is a tenth slower than before: reason to measure the call
/// further. The fastest only gets faster so: who stops once it is not makes no row slower.
bool may_be_slower(const OpRow& before, const OpRow& now);

/// Why no speed of two reports can be compared, for people; empty where it can.
std::string why_no_speed(const Report& before, const Report& now);

}  // namespace bic::report

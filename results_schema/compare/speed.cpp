#include "results_schema/compare/speed.h"

#include <algorithm>
#include <cmath>

namespace bic::report {
namespace {

constexpr std::int64_t kWhole = 1'000'000;
constexpr std::int64_t kLeastChange = 100'000;

/// Whether both timed the same call, and often enough.
bool comparable(const OpRow& before, const OpRow& now) {
  if (!before.throughput || !now.throughput) return false;
  const Throughput &then = *before.throughput, &today = *now.throughput;
  const auto is_enough = [](const Throughput& t) {
    return std::min(t.backend_blocks_ns.size(), t.stock_blocks_ns.size()) >= kFewestBlocks;
  };
  return then.shape == today.shape && then.work == today.work && is_enough(then) &&
         is_enough(today);
}

std::int64_t fastest(const std::vector<std::int64_t>& blocks) {
  return std::max<std::int64_t>(1, std::ranges::min(blocks));
}

/// The fastest now, of that before.
std::int64_t time_ppm(const std::vector<std::int64_t>& before,
                      const std::vector<std::int64_t>& now) {
  return fastest(now) * kWhole / fastest(before);
}

/// How far a share is from the whole, as powers: of the half and of the double it is the same.
double power(std::int64_t ppm) {
  return std::log(static_cast<double>(std::max<std::int64_t>(1, ppm)) / kWhole);
}

bool is_sure(const SpeedChange& c) {
  const bool is_slower = c.share_ppm > kWhole;
  const std::int64_t own = is_slower ? c.time_ppm - kWhole : kWhole - c.time_ppm;
  const double of_stock = 2 * power(c.stock_ppm), of_backend = power(c.time_ppm);
  return own >= kLeastChange && (is_slower ? of_stock <= of_backend : of_stock >= of_backend);
}

}  // namespace

std::optional<SpeedChange> speed_change(const OpRow& before, const OpRow& now) {
  if (!comparable(before, now)) return {};
  const Throughput &then = *before.throughput, &today = *now.throughput;
  SpeedChange change{.op = now.op,
                     .dtype = now.dtype,
                     .shape = today.shape,
                     .before_ns = fastest(then.backend_blocks_ns),
                     .now_ns = fastest(today.backend_blocks_ns),
                     .time_ppm = time_ppm(then.backend_blocks_ns, today.backend_blocks_ns),
                     .stock_ppm = time_ppm(then.stock_blocks_ns, today.stock_blocks_ns),
                     .blocks_before = then.backend_blocks_ns.size(),
                     .blocks_now = today.backend_blocks_ns.size()};
  change.share_ppm = change.time_ppm * kWhole / std::max<std::int64_t>(1, change.stock_ppm);
  if (std::abs(change.share_ppm - kWhole) < kLeastChange) return {};
  change.sure = is_sure(change);
  return change;
}

bool may_be_slower(const OpRow& before, const OpRow& now) {
  if (!comparable(before, now)) return false;
  return time_ppm(before.throughput->backend_blocks_ns, now.throughput->backend_blocks_ns) >=
         kWhole + kLeastChange;
}

std::string why_no_speed(const Report& before, const Report& now) {
  const Environment &then = before.environment, &today = now.environment;
  if (then.cpu != today.cpu || then.cores != today.cores || then.threads != today.threads ||
      before.subject.device != now.subject.device) {
    return "the machines differ in device, CPU, cores or threads";
  }
  const auto has_times = [](const Report& r) {
    return std::ranges::any_of(r.ops, [](const OpRow& row) {
      return row.throughput && !row.throughput->backend_blocks_ns.empty();
    });
  };
  if (!has_times(before)) return "the old report has no times of blocks";
  if (!has_times(now)) return "the new report has no times of blocks";
  return "";
}

}  // namespace bic::report

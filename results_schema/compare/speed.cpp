#include "results_schema/compare/speed.h"

#include <algorithm>
#include <cmath>

namespace bic::report {
namespace {

constexpr std::int64_t kWhole = 1'000'000;
constexpr std::int64_t kLeastChange = 100'000;

/// Of a sorted list: its quarter, its middle, its three quarters.
struct Quartiles {
  std::int64_t low, middle, high;
};

Quartiles quartiles(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size(), low = n / 4;
  return {values[low], values[n / 2], values[n - 1 - low]};
}

/// Whether both timed the same call, and often enough.
bool comparable(const OpRow& before, const OpRow& now) {
  if (!before.throughput || !now.throughput) return false;
  const Throughput &then = *before.throughput, &today = *now.throughput;
  return then.shape == today.shape && then.work == today.work &&
         std::min(then.ratios_ppm.size(), today.ratios_ppm.size()) >= kPairsOfOneMeasurement &&
         std::min(quartiles(then.ratios_ppm).middle, quartiles(today.ratios_ppm).middle) > 0;
}

/// Time now, of that before.
std::int64_t time_ppm(const Quartiles& before, const Quartiles& now) {
  return before.middle * kWhole / std::max<std::int64_t>(1, now.middle);
}

/// The same for each measurement, of which the ratios hold one after the other.
std::vector<std::int64_t> times_ppm(const Quartiles& before, const std::vector<std::int64_t>& now) {
  std::vector<std::int64_t> times;
  for (auto at = now.begin(); now.end() - at >= std::ptrdiff_t{kPairsOfOneMeasurement};
       at += kPairsOfOneMeasurement) {
    const Quartiles one = quartiles({at, at + kPairsOfOneMeasurement});
    times.push_back(time_ppm(before, one));
  }
  return times;
}

/// How far a share is from the whole, up and down alike.
double power(std::int64_t ppm) {
  return std::abs(std::log(static_cast<double>(std::max<std::int64_t>(1, ppm)) / kWhole));
}

}  // namespace

std::optional<SpeedChange> speed_change(const OpRow& before, const OpRow& now) {
  if (!comparable(before, now)) return {};
  const Throughput &then = *before.throughput, &today = *now.throughput;
  const Quartiles a = quartiles(then.ratios_ppm), b = quartiles(today.ratios_ppm);
  const std::int64_t time = time_ppm(a, b);
  const std::vector<std::int64_t> each = times_ppm(a, today.ratios_ppm);
  const bool is_slower = std::ranges::min(each) >= kWhole + kLeastChange && b.high < a.low;
  const bool is_faster = std::ranges::max(each) <= kWhole - kLeastChange && b.low > a.high;
  if (!is_slower && !is_faster) return {};
  SpeedChange change{
      .op = now.op,
      .dtype = now.dtype,
      .shape = today.shape,
      .before_ppm = a.middle,
      .now_ppm = b.middle,
      .time_ppm = time,
      .pairs_before = then.ratios_ppm.size(),
      .pairs_now = today.ratios_ppm.size(),
      .stock_ppm = today.stock_ns * kWhole / std::max<std::int64_t>(1, then.stock_ns)};
  change.stock_held = 2 * power(change.stock_ppm) <= power(time);
  return change;
}

bool may_be_slower(const OpRow& before, const OpRow& now) {
  if (!comparable(before, now)) return false;
  const Throughput &then = *before.throughput, &today = *now.throughput;
  const std::int64_t by_ratio = time_ppm(quartiles(then.ratios_ppm), quartiles(today.ratios_ppm));
  const std::int64_t own = today.backend_ns * kWhole / std::max<std::int64_t>(1, then.backend_ns);
  return std::max(by_ratio, own) >= kWhole + kLeastChange;
}

std::string why_no_speed(const Report& before, const Report& now) {
  const Environment &then = before.environment, &today = now.environment;
  if (then.cpu != today.cpu || then.cores != today.cores || then.threads != today.threads ||
      before.subject.device != now.subject.device) {
    return "the machines differ in device, CPU, cores or threads";
  }
  const auto has_times = [](const Report& r) {
    return std::ranges::any_of(r.ops, [](const OpRow& row) { return row.throughput.has_value(); });
  };
  if (!has_times(before)) return "the old report has no times";
  if (!has_times(now)) return "the new report has no times";
  return "";
}

}  // namespace bic::report

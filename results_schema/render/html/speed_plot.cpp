#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results_schema/render/html/view.h"

namespace bic::report::page {
namespace {

constexpr double kLeft = 46, kRight = 496, kTop = 16, kHeight = 240;
constexpr double kThickest = 24;

/// The powers of two between which the rows lie, 1 among them.
struct Doublings {
  double low = -1, high = 1;
  double y(double doublings) const {
    return kTop + (kHeight - 2 * kTop) * (high - doublings) / (high - low);
  }
};

double doublings_of(const OpRow& row) {
  return std::log2(static_cast<double>(row.throughput->ratio_ppm) / 1e6);
}

/// Slowest first.
std::vector<const OpRow*> timed_rows(const Report& report) {
  std::vector<const OpRow*> rows;
  for (const OpRow& row : report.ops) {
    if (row.throughput && row.throughput->ratio_ppm > 0) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, {}, [](const OpRow* r) { return r->throughput->ratio_ppm; });
  return rows;
}

std::string speed_text(const std::vector<const OpRow*>& rows) {
  if (rows.empty()) return "Nothing was timed.";
  const auto slower = std::ranges::count_if(
      rows, [](const OpRow* r) { return r->throughput->ratio_ppm < 1'000'000; });
  return fmt::format(
      "Stock PyTorch's time over the backend's, on the same machine and inputs: the median of {} "
      "rows is {:.2f}×; {} are slower than stock.",
      rows.size(),
      static_cast<double>(rows[rows.size() / 2]->throughput->ratio_ppm) / 1e6,
      slower);
}

list grid(const Doublings& range) {
  list lines;
  const int step = std::max(1, static_cast<int>(range.high - range.low) / 6);
  for (int e = static_cast<int>(range.low); e <= static_cast<int>(range.high); ++e) {
    if (e % step != 0) continue;
    lines.push_back(
        object{{"y", length_text(range.y(e))},
               {"ty", length_text(range.y(e) + 4)},
               {"one", e == 0},
               {"label", e < 0 ? fmt::format("1/{}×", 1 << -e) : fmt::format("{}×", 1 << e)}});
  }
  return lines;
}

list bars(const std::vector<const OpRow*>& rows, const Doublings& range) {
  list bars;
  const double step = std::min(kThickest, (kRight - kLeft) / static_cast<double>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double doublings = doublings_of(*rows[i]);
    bars.push_back(
        object{{"class", doublings < 0 ? "slow" : "fast"},
               {"x", length_text(kLeft + step * static_cast<double>(i))},
               {"width", length_text(std::max(0.8, step * 0.8))},
               {"y", length_text(range.y(std::max(doublings, 0.0)))},
               {"height", length_text(std::fabs(range.y(doublings) - range.y(0)))},
               {"hint",
                fmt::format("{} {}: {:.2f}×",
                            rows[i]->op,
                            name(rows[i]->dtype),
                            static_cast<double>(rows[i]->throughput->ratio_ppm) / 1e6)}});
  }
  return bars;
}

}  // namespace

void add_speed_plot(const Report& report, data& page) {
  const std::vector<const OpRow*> rows = timed_rows(report);
  page.set("speed_text", speed_text(rows));
  if (rows.empty()) {
    page.set("speeds", false);
    return;
  }
  const Doublings range{std::min(-1.0, std::floor(doublings_of(*rows.front()))),
                        std::max(1.0, std::ceil(doublings_of(*rows.back())))};
  page.set(
      "speeds",
      object{{"height", length_text(kHeight)}, {"grid", grid(range)}, {"bars", bars(rows, range)}});
}

}  // namespace bic::report::page

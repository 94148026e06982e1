#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "results_schema/render/html/view.h"

namespace bic::report::page {
namespace {

constexpr std::size_t kBins = 11;  ///< ten of a tenth of the bound each, and what is beyond it
constexpr double kLeft = 54, kStep = 34, kWide = 30, kLane = 60, kTallest = 36, kFirstBase = 54;
constexpr double kGap = 34;  ///< before the last bin, which is no tenth

using Bins = std::array<std::int64_t, kBins>;

/// A bin holds its upper end: an error of exactly the bound is within it.
std::size_t bin_of(std::int64_t ppm) {
  if (ppm > 1'000'000) return kBins - 1;
  return static_cast<std::size_t>(std::max<std::int64_t>(ppm - 1, 0) / 100'000);
}

double left_of(std::size_t bin) {
  return kLeft + kStep * static_cast<double>(bin) + (bin + 1 == kBins ? kGap : 0);
}

std::string bin_text(std::size_t bin) {
  return bin + 1 == kBins ? "beyond the bound"
                          : fmt::format("{} to {} % of the bound", 10 * bin, 10 * bin + 10);
}

std::string rows_text(std::int64_t rows) {
  return rows == 1 ? "1 row" : fmt::format("{} rows", rows);
}

list bars(const Bins& bins, double base, std::int64_t most) {
  list bars;
  for (std::size_t i = 0; i < kBins; ++i) {
    if (bins[i] == 0) continue;
    const double height =
        std::max(2.0, kTallest * static_cast<double>(bins[i]) / static_cast<double>(most));
    const double x = left_of(i);
    bars.push_back(object{{"class", i + 1 == kBins ? "beyond" : "within"},
                          {"x", length_text(x)},
                          {"y", length_text(base - height)},
                          {"height", length_text(height)},
                          {"tx", length_text(x + kWide / 2)},
                          {"ty", length_text(base - height - 4)},
                          {"count", std::to_string(bins[i])},
                          {"hint", fmt::format("{}: {}", rows_text(bins[i]), bin_text(i))}});
  }
  return bars;
}

list ticks(double y) {
  list ticks;
  for (std::size_t i = 0; i < kBins; i += 2) {
    ticks.push_back(object{{"x", length_text(kLeft - 2 + kStep * static_cast<double>(i))},
                           {"y", length_text(y)},
                           {"label", fmt::format("{} %", 10 * i)}});
  }
  ticks.push_back(object{{"x", length_text(left_of(kBins - 1) + kWide / 2)},
                         {"y", length_text(y)},
                         {"label", "beyond"}});
  return ticks;
}

}  // namespace

/// A lane for each dtype: how many rows have their worst error in which tenth of the bound.
void add_error_plot(const Report& report, data& page) {
  list lanes;
  std::vector<std::string> texts;
  double base = kFirstBase;
  const double right = left_of(kBins - 1) + kStep;
  for (const DType dtype : kAllDTypes) {
    Bins bins{};
    std::int64_t rows = 0;
    for (const OpRow& row : report.ops) {
      if (row.dtype != dtype || !row.worst_error_ppm) continue;
      ++bins[bin_of(*row.worst_error_ppm)];
      ++rows;
    }
    if (rows == 0) continue;
    texts.push_back(
        fmt::format("{}: {}, {} beyond the bound", name(dtype), rows_text(rows), bins.back()));
    lanes.push_back(object{{"dtype", std::string(name(dtype))},
                           {"base", length_text(base)},
                           {"ty", length_text(base - 4)},
                           {"right", length_text(right)},
                           {"bars", bars(bins, base, *std::ranges::max_element(bins))}});
    base += kLane;
  }
  const std::string text =
      texts.empty() ? "No error was measured." : fmt::format("{}.", fmt::join(texts, "; "));
  page.set("errors",
           object{{"lanes", lanes},
                  {"ticks", ticks(base - kLane + 18)},
                  {"text", text},
                  {"width", length_text(right + 8)},
                  {"height", length_text(base - kLane + 26)}});
}

}  // namespace bic::report::page

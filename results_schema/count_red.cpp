#include "results_schema/count_red.h"

#include <algorithm>

namespace bic {

std::int64_t count_red(const report::Counters& cases) {
  std::int64_t red = 0;
  for (std::size_t s = 0; s < kStatusCount; ++s) {
    if (is_red(static_cast<Status>(s))) red += cases.by_status[s];
  }
  return red;
}

std::int64_t count_waived(const report::Report& report) {
  return report.totals.cases[Status::kWaived] +
         std::ranges::count(report.decoder, Status::kWaived, &report::DecoderRow::status) +
         std::ranges::count(report.models, Status::kWaived, &report::ModelRow::status);
}

}  // namespace bic

#include "harness/judge/distance.h"

#include <algorithm>
#include <cmath>

namespace bic {

Distance distance(std::span<const double> reference, std::span<const double> output) {
  Distance d;
  double squares = 0, norm = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double difference = std::fabs(output[i] - reference[i]);
    d.max_abs = std::max(d.max_abs, difference);
    d.mean_abs += difference;
    squares += difference * difference;
    norm += reference[i] * reference[i];
    d.output_abs_max = std::max(d.output_abs_max, std::fabs(output[i]));
  }
  if (output.empty()) return d;
  const auto n = static_cast<double>(output.size());
  d.mean_abs /= n;
  d.rmse = std::sqrt(squares / n);
  d.relative_l2 = std::sqrt(squares) / std::max(std::sqrt(norm), 1e-12);
  return d;
}

}  // namespace bic

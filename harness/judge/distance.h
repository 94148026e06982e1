#pragma once

#include <span>

namespace bic {

/// How far an output, of a batched run, is from its reference, of the sample alone: the measures of
/// the public posts. Computed in double.
struct Distance {
  double max_abs = 0, mean_abs = 0, rmse = 0;
  double relative_l2 = 0;     ///< |difference| / max(|reference|, 1e-12)
  double output_abs_max = 0;  ///< of the output
};

/// Both have the same number of elements; of none all is 0.
Distance distance(std::span<const double> reference, std::span<const double> output);

}  // namespace bic

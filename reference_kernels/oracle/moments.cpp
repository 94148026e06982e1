#include "reference_kernels/oracle/moments.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bic {
namespace {

/// Every deviation is that from a mean off by a common e, rounded: the sum of their squares is
/// var + e^2, each term through the rounding of its deviation (twice), its square and the sum.
/// (Chan, Golub, LeVeque, "Algorithms for computing the sample variance", 1983.)
double two_pass_error(const ErrorAnalysis& analysis,
                      std::int64_t roundings,
                      double variance,
                      double mean_error) {
  const double shift = mean_error * mean_error;
  return shift + analysis.gamma(roundings) * (variance + shift) + 2 * analysis.underflow();
}

/// M += (x - m')(x - m), m the running means: an error of the means is at most that of the last,
/// and mean |x - m'| is at most sqrt(2 var) (same source).
double welford_error(const ErrorAnalysis& analysis,
                     std::int64_t n,
                     double variance,
                     double mean_error) {
  const double moved = 3 * mean_error * std::sqrt(variance) + 2 * mean_error * mean_error;
  return moved + analysis.gamma(n + 8) * (variance + moved) + 2 * analysis.underflow();
}

}  // namespace

RowMoments moments_of(const ErrorAnalysis& analysis, const Terms& x, bool welford) {
  const std::int64_t n = x.extent;
  const double count = static_cast<double>(n);
  double sum = 0, sizes = 0, largest = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += x[i];
    sizes += std::fabs(x[i]);
    largest = std::max(largest, std::fabs(x[i]));
  }
  Approx mean{sum / count, 0};
  for (std::int64_t i = 0; i < n; ++i) squares += (x[i] - mean.value) * (x[i] - mean.value);
  // Dividing by a power of two is exact; else by division, or the rounded reciprocal and a product.
  const int divisions = std::has_single_bit(static_cast<std::uint64_t>(n)) ? 0 : 2;
  Approx variance{squares / count, 0};
  if (welford) {
    mean.error = analysis.gamma(n + 8) * largest;
    variance.error = welford_error(analysis, n, variance.value, mean.error);
  } else {
    mean.error = n - 1 + divisions == 0 ? 0 : analysis.gamma(n - 1 + divisions) * sizes / count;
    variance.error = two_pass_error(analysis, n + 2 + divisions, variance.value, mean.error);
  }
  return {mean, variance};
}

}  // namespace bic

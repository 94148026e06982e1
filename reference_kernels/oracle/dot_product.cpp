#include "reference_kernels/oracle/dot_product.h"

namespace bic {

double DotProduct::bound(const ErrorAnalysis& analysis) const {
  const std::string_view form = analysis.form({"", "round-before-bias", "tensor-core"});
  const double value = sum_lanes<double>(k, [&](std::int64_t i) { return a[i] * b[i]; });
  const double size = sum_lanes<double>(k, [&](std::int64_t i) { return std::fabs(a[i] * b[i]); });
  // A product may underflow, and with flushing so may every partial sum; a subnormal operand loses
  // its whole product.
  const auto lost = [&](std::int64_t i) {
    return analysis.flushes(a[i]) || analysis.flushes(b[i]) ? std::fabs(a[i] * b[i]) : 0.0;
  };
  const double flushed = analysis.flushes(0) ? sum_lanes<double>(k, lost) : 0;
  const double underflow = analysis.underflow() * static_cast<double>(k) + flushed;
  const double added = bias == nullptr ? 0 : beta * *bias;
  const std::int64_t terms = k + (bias == nullptr ? 0 : 1);
  // Truncation errs by twice as much as rounding.
  const std::int64_t roundings = form == "tensor-core" ? 2 * (terms + 2) : terms;
  if (form == "round-before-bias") {
    const Approx sum = analysis.to_subject(analysis.sum(value, size, underflow, k, k));
    if (bias == nullptr && !scaled) return analysis.output(sum);
    const Approx scaled_bias = scaled ? analysis.rounded(added) : Approx{added, 0};
    return analysis.output(analysis.add(scaled ? analysis.mul(sum, {alpha, 0}) : sum, scaled_bias));
  }
  if (!scaled) {
    return analysis.output(
        analysis.sum(value + added, size + std::fabs(added), underflow, roundings, terms));
  }
  return analysis.output(analysis.sum(alpha * value + added,
                                      std::fabs(alpha) * size + std::fabs(added),
                                      (1 + std::fabs(alpha)) * underflow + 2 * analysis.underflow(),
                                      roundings + 1,
                                      terms));
}

}  // namespace bic

#include "reference_kernels/oracle/error_analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "generators/laws.h"
#include "reference_kernels/oracle/wide_math.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Exponent of the smallest normal number.
int smallest_exponent(DType t) {
  switch (t) {
    case DType::kFloat64:
      return -1022;
    case DType::kFloat16:
      return -14;
    case DType::kFloat32:
    case DType::kBFloat16:
      break;
  }
  return -126;
}

double largest(DType t) { return scale(2 - scale(1, 1 - precision(t)), 1 - smallest_exponent(t)); }

}  // namespace

ErrorAnalysis::ErrorAnalysis(const Arithmetic& arithmetic, DType subject)
    : arithmetic_(arithmetic), subject_(subject) {
  const DType accumulator = arithmetic.accumulator;
  unit_ = scale(1, -precision(accumulator)) + (subject == DType::kFloat64 ? 0x1p-100 : 0x1p-53);
  smallest_normal_ = scale(1, smallest_exponent(accumulator));
  // Gradual underflow errs by half a subnormal unit; flushing by all that lies below the smallest
  // normal number, of the operand as well as of the result.
  underflow_ = arithmetic.flushes_subnormals
                   ? 2 * smallest_normal_
                   : std::max(scale(smallest_normal_, -precision(accumulator)), 0x1p-1074);
  largest_ = largest(accumulator);
}

std::string_view ErrorAnalysis::form(std::initializer_list<std::string_view> known) const {
  for (std::string_view form : known) {
    if (form == arithmetic_.form) return form;
  }
  throw HarnessError("arithmetic form '" + arithmetic_.form + "' is unknown to this op");
}

bool ErrorAnalysis::flushes(double operand) const {
  return arithmetic_.flushes_subnormals && std::fabs(operand) < smallest_normal_;
}

double ErrorAnalysis::gamma(std::int64_t n) const {
  const double nu = static_cast<double>(n) * unit_;
  return nu < 1 ? nu / (1 - nu) : kInfinity;
}

Approx ErrorAnalysis::add(Approx a, Approx b) const {
  const double value = a.value + b.value;
  const double error = a.error + b.error;
  // A sum that underflows is exact, unless flushed (Higham, problem 2.19).
  const double flushed = arithmetic_.flushes_subnormals ? underflow_ : 0;
  return {value, error + unit_ * (std::fabs(value) + error) + flushed};
}

Approx ErrorAnalysis::mul(Approx a, Approx b) const {
  const double value = a.value * b.value;
  const double error =
      std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
  return {value, error + unit_ * (std::fabs(value) + error) + underflow_};
}

Approx ErrorAnalysis::div(Approx a, Approx b) const {
  const double value = a.value / b.value;
  const double smallest = std::fabs(b.value) - b.error;
  if (!(smallest > 0)) return {value, kInfinity};
  const double error = (a.error + std::fabs(value) * b.error) / smallest;
  return {value, error + unit_ * (std::fabs(value) + error) + underflow_};
}

Approx ErrorAnalysis::root(Approx a) const {
  const double value = std::sqrt(a.value);
  const double below = value - std::sqrt(std::max(0.0, a.value - a.error));
  const double error = std::max(below, std::sqrt(a.value + a.error) - value);
  return {value, error + unit_ * (value + error)};
}

Approx ErrorAnalysis::rounded(double value) const { return {value, unit_ * std::fabs(value)}; }

Approx ErrorAnalysis::function(double value, double slope, Approx argument) const {
  const double error = slope * argument.error;
  const double ulps = 2 * unit_ * arithmetic_.elementary_ulps;  // an ulp is at most 2u of the value
  return {value, error + ulps * (std::fabs(value) + error) + smallest_normal_};
}

Approx ErrorAnalysis::sum(double value,
                          double magnitude,
                          double error,
                          std::int64_t roundings,
                          std::int64_t terms) const {
  const double total = magnitude + error;
  if (!(total <= largest_)) return {value, kInfinity};
  const double flushed = arithmetic_.flushes_subnormals ? underflow_ * terms : 0;
  return {value, error + (roundings > 0 ? gamma(roundings) * total : 0) + flushed};
}

bool ErrorAnalysis::rounds_output() const {
  return precision(subject_) < precision(arithmetic_.accumulator);
}

Approx ErrorAnalysis::to_subject(Approx y) const {
  return rounds_output() ? Approx{y.value, output(y)} : y;
}

double ErrorAnalysis::output(Approx y) const {
  if (!std::isfinite(y.value)) return 0;
  // How far y.value and the oracle, in double both, may be apart: as far as a result of fp64 sums.
  const bool same_precision = arithmetic_.accumulator == DType::kFloat64 && rounds_output();
  const double slack = y.error * (same_precision ? 1 : 0x1p-20);
  const double error = y.error + slack;
  if (!(std::fabs(y.value) + error <= largest_)) return kInfinity;
  if (!rounds_output()) return error;
  // Rounding is monotonic: its worst results are those of the two ends.
  return std::max(round_to(subject_, y.value + error) - y.value,
                  y.value - round_to(subject_, y.value - error)) +
         slack;
}

}  // namespace bic

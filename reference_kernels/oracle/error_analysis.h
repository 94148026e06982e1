#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "reference_kernels/oracle/reference.h"

namespace bic {

/// What an implementation computes instead of `value`: a number at most `error` away from it.
struct Approx {
  double value = 0;
  double error = 0;
};

/// The standard model of floating-point arithmetic, applied operation by operation: each result is
/// off by at most u relative to what the operands at hand give, plus the underflow unit.
///
/// Source: N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.: (2.8) for the model
/// with underflow, 3.1 for gamma_n and inner products in any order, 3.3 for running error bounds,
/// 4.2 for sums in any order.
class ErrorAnalysis {
 public:
  /// The unit roundoff is the accumulator's plus the oracle's own (2^-53; 2^-100 for subjects in
  /// fp64): both evaluate the same formula, so that the difference is held by the sum.
  ErrorAnalysis(const Arithmetic& arithmetic, DType subject);

  /// The arithmetic's form; throws HarnessError when it is none of `known`.
  std::string_view form(std::initializer_list<std::string_view> known) const;

  double unit() const { return unit_; }
  double underflow() const { return underflow_; }

  /// Whether an operand counts as 0 where subnormals are flushed.
  bool flushes(double operand) const;
  double smallest_normal() const { return smallest_normal_; }

  /// n u / (1 - n u), infinite from n u = 1 on.
  double gamma(std::int64_t n) const;

  Approx add(Approx a, Approx b) const;
  Approx sub(Approx a, Approx b) const { return add(a, {-b.value, b.error}); }
  Approx mul(Approx a, Approx b) const;
  Approx div(Approx a, Approx b) const;
  /// The square root of a number that is never computed below 0.
  Approx root(Approx a) const;

  /// A constant or operand rounded once to the accumulator type.
  Approx rounded(double value) const;

  /// exp, erf or the like of `argument`, of the arithmetic's ulps. `slope` is the largest
  /// derivative in size between argument and argument +- error. Results below the smallest normal
  /// number may be flushed, as vector implementations of exp do.
  Approx function(double value, double slope, Approx argument) const;

  /// A sum of `terms` numbers in any order. `value` is the sum, `magnitude` the sum of their sizes,
  /// `error` the sum of their own errors; `roundings` is how many a term goes through on its way.
  Approx sum(double value,
             double magnitude,
             double error,
             std::int64_t roundings,
             std::int64_t terms) const;

  /// Rounds to the subject's type on the way, as `round-before-bias` does.
  Approx to_subject(Approx y) const;

  /// The bound on |output - oracle|: the error of the accumulator and the rounding to the subject's
  /// type, taken at the worst accumulator value. Infinite where an honest result may overflow; 0
  /// where the oracle is not finite.
  double output(Approx y) const;

 private:
  bool rounds_output() const;

  const Arithmetic& arithmetic_;
  DType subject_;
  double unit_ = 0;
  double underflow_ = 0;
  double smallest_normal_ = 0;
  double largest_ = 0;
};

}  // namespace bic

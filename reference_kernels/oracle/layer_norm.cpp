#include <algorithm>
#include <bit>
#include <cmath>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"

namespace bic {
namespace {

using std::sqrt;  // beside sqrt(DoubleDouble)

/// Mean and variance of one row in an implementation, and what it multiplies by.
struct Moments {
  Approx mean;
  Approx rstd;
};

/// The block seen as [rows, n].
class LayerNorm {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const std::int64_t n = extent_of(operands);
    const A eps = static_cast<A>(real_attribute(operands.attributes, "eps"));
    const A count = static_cast<A>(static_cast<double>(n));
    std::int64_t row = -1;
    A mean{}, rstd{};
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double* x = operands.values[0].data() + elements[i] / n * n;
      const std::int64_t column = elements[i] % n;
      const auto deviation = [&](std::int64_t c) { return static_cast<A>(x[c]) - mean; };
      if (elements[i] / n != row) {
        row = elements[i] / n;
        mean =
            sum_in_order<A>(order, n, [&](std::int64_t c) { return static_cast<A>(x[c]); }) / count;
        const A squares =
            sum_in_order<A>(order, n, [&](std::int64_t c) { return deviation(c) * deviation(c); });
        rstd = static_cast<A>(1.0) / sqrt(squares / count + eps);
      }
      y[i] = deviation(column) * rstd;
      if (operands.values.size() > 1) {
        y[i] = y[i] * static_cast<A>(operands.values[1][column]) +
               static_cast<A>(operands.values[2][column]);
      }
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool axb = analysis.form({"", "ax+b"}) == "ax+b";
    const std::int64_t n = extent_of(operands);
    const double eps = real_attribute(operands.attributes, "eps");
    std::int64_t row = -1;
    Moments moments;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::span<const double> x = operands.values[0].subspan(elements[i] / n * n, n);
      const std::int64_t column = elements[i] % n;
      if (elements[i] / n != row) moments = moments_of(analysis, x, eps, axb);
      row = elements[i] / n;
      Approx y = axb ? affine(analysis, x[column], moments) : centred(analysis, x[column], moments);
      if (operands.values.size() > 1) {
        y = analysis.mul(y, {operands.values[1][column], 0});
        y = analysis.add(y, {operands.values[2][column], 0});
      }
      bound[i] = analysis.output(y);
    }
  }

 private:
  static std::int64_t extent_of(const Operands& operands) {
    return operands.values.size() > 1 ? static_cast<std::int64_t>(operands.values[1].size())
                                      : operands.dims.at("h");
  }

  /// (x - mean) * rstd.
  static Approx centred(const ErrorAnalysis& analysis, double x, const Moments& m) {
    return analysis.mul(analysis.sub({x, 0}, m.mean), m.rstd);
  }

  /// x * rstd + (-mean * rstd). The two products share one rstd: its error scales the difference,
  /// only their roundings scale with |x| and |mean|.
  static Approx affine(const ErrorAnalysis& analysis, double x, const Moments& m) {
    const double rstd = m.rstd.value + m.rstd.error;
    const double deviation = x - m.mean.value;
    const double roundings =
        rstd * (std::fabs(x) + std::fabs(m.mean.value) + m.mean.error) * analysis.unit() +
        2 * analysis.underflow();
    const Approx y{deviation * m.rstd.value,
                   std::fabs(deviation) * m.rstd.error + rstd * m.mean.error + roundings};
    return analysis.add(y, {0, 0});
  }

  static Moments moments_of(const ErrorAnalysis& analysis,
                            std::span<const double> x,
                            double eps,
                            bool welford) {
    const std::int64_t n = static_cast<std::int64_t>(x.size());
    const double count = static_cast<double>(n);
    double sum = 0, sizes = 0, largest = 0, squares = 0;
    for (double v : x) {
      sum += v;
      sizes += std::fabs(v);
      largest = std::max(largest, std::fabs(v));
    }
    Approx mean{sum / count, 0};
    for (double v : x) squares += (v - mean.value) * (v - mean.value);
    // Dividing by a power of two is exact; else by division, or the rounded reciprocal and a
    // product.
    const int divisions = std::has_single_bit(static_cast<std::uint64_t>(n)) ? 0 : 2;
    Approx variance{squares / count, 0};
    if (welford) {
      mean.error = analysis.gamma(n + 8) * largest;
      variance.error = welford_error(analysis, n, variance.value, mean.error);
    } else {
      mean.error = n - 1 + divisions == 0 ? 0 : analysis.gamma(n - 1 + divisions) * sizes / count;
      variance.error = two_pass_error(analysis, n + 2 + divisions, variance.value, mean.error);
    }
    return {mean, rstd_of(analysis, variance, eps)};
  }

  /// Every deviation is that from a mean off by a common e, rounded: the sum of their squares is
  /// var + e^2, each term through the rounding of its deviation (twice), its square and the sum.
  /// (Chan, Golub, LeVeque, "Algorithms for computing the sample variance", 1983.)
  static double two_pass_error(const ErrorAnalysis& analysis,
                               std::int64_t roundings,
                               double variance,
                               double mean_error) {
    const double shift = mean_error * mean_error;
    return shift + analysis.gamma(roundings) * (variance + shift) + 2 * analysis.underflow();
  }

  /// M += (x - m')(x - m), m the running means: an error of the means is at most that of the last,
  /// and mean |x - m'| is at most sqrt(2 var) (same source).
  static double welford_error(const ErrorAnalysis& analysis,
                              std::int64_t n,
                              double variance,
                              double mean_error) {
    const double moved = 3 * mean_error * std::sqrt(variance) + 2 * mean_error * mean_error;
    return moved + analysis.gamma(n + 8) * (variance + moved) + 2 * analysis.underflow();
  }

  /// 1 / sqrt(var + eps), by a root and a division. A computed variance is never negative.
  static Approx rstd_of(const ErrorAnalysis& analysis, Approx variance, double eps) {
    const Approx shifted = analysis.add(variance, analysis.rounded(eps));
    const double floor = eps * (1 - 4 * analysis.unit());
    const double least = std::max(shifted.value - shifted.error, floor);
    const double value = 1 / std::sqrt(shifted.value);
    const double error = std::max(1 / std::sqrt(least) - value,
                                  value - 1 / std::sqrt(shifted.value + shifted.error));
    return {value, error + analysis.gamma(2) * (value + error)};
  }
};

}  // namespace

std::shared_ptr<const Reference> layer_norm_reference() {
  return std::make_shared<ReferenceOf<LayerNorm>>(LayerNorm());
}

}  // namespace bic

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/wide_math.h"
#include "results_schema/error.h"

namespace bic {
namespace {

constexpr DoubleDouble kSqrtHalf{0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};
constexpr DoubleDouble kSqrtTwo{0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54};
constexpr DoubleDouble kSqrtTwoByPi{0x1.9884533d43651p-1, -0x1.cbc0d30ebfd15p-55};
constexpr DoubleDouble kCubic{0x1.6e4e26d4801f7p-5, 0x1.441355475a31ap-59};  // 0.044715
constexpr double kTwoBySqrtPi = 0x1.20dd750429b6dp+0;
constexpr double kSaturated = 64;  // from here on erf and tanh are +-1 to more than 2000 bits

template <class A>
A constant(DoubleDouble value) {
  return static_cast<A>(value.hi);
}
template <>
DoubleDouble constant<DoubleDouble>(DoubleDouble value) {
  return value;
}

/// x Phi(x). Two honest evaluations: the argument of erfc by a product or by a quotient.
template <class A>
A gelu_erf(A x, bool quotient) {
  const A argument = quotient ? -x / constant<A>(kSqrtTwo) : -x * constant<A>(kSqrtHalf);
  return constant<A>(0.5) * x * wide_erfc(argument);
}

/// x / (1 + exp(-2u)). Two honest evaluations: u in powers of x, or factored.
template <class A>
A gelu_tanh(A x, bool factored) {
  const A cubic = constant<A>(kCubic), scaling = constant<A>(kSqrtTwoByPi);
  const A u = factored ? scaling * x * (constant<A>(1.0) + cubic * (x * x))
                       : scaling * (x + cubic * (x * x * x));
  return x / (constant<A>(1.0) + wide_exp(constant<A>(-2.0) * u));
}

double tanh_slope(double w) {  // derivative of tanh at w >= 0
  const double e = wide_exp(-2 * w);
  return 4 * e / ((1 + e) * (1 + e));
}

class Gelu {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const bool tanh = is_tanh(operands);
    const bool second = order != Order::kSequential;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const A x = static_cast<A>(operands.values[0][elements[i]]);
      y[i] = tanh ? gelu_tanh(x, second) : gelu_erf(x, second);
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool tanh = is_tanh(operands);
    const bool one_plus = analysis.form({"", "1+erf"}) == "1+erf";
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double x = operands.values[0][elements[i]];
      Approx y;
      if (std::fabs(x) > kSaturated) {
        y = saturated(analysis, x, one_plus);
      } else {
        y = tanh ? tanh_error(analysis, x, one_plus) : erf_error(analysis, x, one_plus);
      }
      // Factors of the result may underflow or overflow while the result does neither; beyond
      // saturation they are 0 or 1.
      y.error += 2 * std::min(std::fabs(x), kSaturated) * analysis.smallest_normal();
      // Where the half comes last, x (1 + erf) overflows before the result does; and an infinite x
      // may meet 0 in the pieces of which erf is made, as in oneDNN's for 16-bit types.
      const bool undefined = one_plus && (std::isinf(x) || std::isinf(analysis.output({2 * x, 0})));
      bound[i] = undefined ? std::numeric_limits<double>::infinity() : analysis.output(y);
    }
  }

 private:
  static bool is_tanh(const Operands& operands) {
    const std::string approximate = text_attribute(operands.attributes, "approximate", "none");
    if (approximate != "none" && approximate != "tanh") {
      throw HarnessError("gelu: attribute approximate: '" + approximate + "' is not none or tanh");
    }
    return approximate == "tanh";
  }

  static Approx saturated(const ErrorAnalysis& analysis, double x, bool one_plus) {
    if (x != x) return {x, 0};
    const Approx one = analysis.function(1, 0, {});
    if (x > 0) return analysis.mul({x, 0}, one);
    return one_plus ? analysis.mul({x, 0}, {0, one.error}) : Approx{};
  }

  /// x / 2 * erfc(-z), or x / 2 * (1 + erf(z)), z = x sqrt(1/2).
  static Approx erf_error(const ErrorAnalysis& analysis, double x, bool one_plus) {
    const Approx z = analysis.mul({x, 0}, analysis.rounded(kSqrtHalf.hi));
    const double nearest = std::max(0.0, std::fabs(z.value) - z.error);
    const double slope = kTwoBySqrtPi * wide_exp(-nearest * nearest);
    const double value = wide_erfc(-z.value);
    Approx factor = analysis.function(value, slope, z);
    if (one_plus) {
      const Approx erf{value - 1, analysis.function(1, slope, z).error};
      factor = {value, analysis.add({1, 0}, erf).error};
    }
    return analysis.mul({x / 2, 0}, factor);
  }

  /// x / (1 + exp(-2u)), or x / 2 * (1 + tanh(u)).
  static Approx tanh_error(const ErrorAnalysis& analysis, double x, bool one_plus) {
    const Approx square = analysis.mul({x, 0}, {x, 0});
    const Approx cube = analysis.mul(analysis.rounded(kCubic.hi), analysis.mul(square, {x, 0}));
    const Approx u = analysis.mul(analysis.rounded(kSqrtTwoByPi.hi), analysis.add({x, 0}, cube));
    if (one_plus) {
      const double slope = tanh_slope(std::max(0.0, std::fabs(u.value) - u.error));
      const double value = 2 / (1 + wide_exp(-2 * u.value));
      const Approx tanh{value - 1, analysis.function(1, slope, u).error};
      return analysis.mul({x / 2, 0}, {value, analysis.add({1, 0}, tanh).error});
    }
    if (-2 * u.value > 700) return {0, 0};  // exp overflows, or nearly
    const Approx twice{-2 * u.value, 2 * u.error};
    const Approx e =
        analysis.function(wide_exp(twice.value), wide_exp(twice.value + twice.error), twice);
    return analysis.div({x, 0}, analysis.add({1, 0}, e));
  }
};

}  // namespace

std::shared_ptr<const Reference> gelu_reference() {
  return std::make_shared<ReferenceOf<Gelu>>(Gelu());
}

}  // namespace bic

#include <algorithm>
#include <cmath>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/wide_math.h"

namespace bic {
namespace {

constexpr DoubleDouble kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kLargestExp = 709;

/// A function's result in type A, rounded once.
template <class A>
A rounded(DoubleDouble value) {
  return static_cast<A>(value.hi);
}
template <>
DoubleDouble rounded<DoubleDouble>(DoubleDouble value) {
  return value;
}

template <class A>
A exp_of(A x) {
  return rounded<A>(wide_exp(DoubleDouble(x)));
}
template <class A>
A expm1_of(A x) {
  return rounded<A>(wide_expm1(DoubleDouble(x)));
}
template <class A>
A log_of(A x) {
  return rounded<A>(wide_log(DoubleDouble(x)));
}
template <class A>
A sin_of(A x) {
  return rounded<A>(wide_sin(DoubleDouble(x)));
}
template <class A>
A cos_of(A x) {
  return rounded<A>(wide_cos(DoubleDouble(x)));
}

double in_double(double x) { return x; }
double in_double(DoubleDouble x) { return x.hi; }

/// The functions in type A. Each has two honest evaluations, which round at other places.
template <class A>
struct In {
  inline static const A one = static_cast<A>(1.0), two = static_cast<A>(2.0);

  static A sigmoid(A x, bool second) {
    if (second || !(x < A{})) return one / (one + exp_of(-x));
    const A e = exp_of(x);
    return e / (one + e);
  }

  static A silu(A x, bool second) {
    if (second) return x * (one / (one + exp_of(-x)));
    return x < A{} ? x * sigmoid(x, false) : x / (one + exp_of(-x));
  }

  /// m / (m + 2), m = expm1(2 |x|); or with the reciprocal of the exponential.
  static A tanh(A x, bool second) {
    const A doubled = two * (x < A{} ? -x : x);
    // 1 to 115 bits from 40 on; the exponential must not overflow.
    const A m = expm1_of(second ? -doubled : doubled > 80.0 ? static_cast<A>(80.0) : doubled);
    const A y = m / (m + two);
    return (x < A{}) != second ? -y : y;
  }

  static A exp(A x, bool second) {
    if (!second) return exp_of(x);
    const A root = exp_of(x / two);
    return root * root;
  }

  /// The second is log m + k ln 2 for x = m 2^k.
  static A log(A x, bool second) {
    const double top = in_double(x);
    if (!second || !(top > 0) || !std::isfinite(top)) return log_of(x);
    int k = 0;
    double m = std::frexp(top, &k);
    if (m < kSqrtHalf) m = scale(m, 1), --k;
    return log_of(static_cast<A>(m)) + static_cast<A>(static_cast<double>(k)) * rounded<A>(kLn2);
  }

  static A rsqrt(A x, bool second) {
    using std::sqrt;
    const A root = sqrt(x);
    const bool quotient = second && in_double(x) != 0 && std::isfinite(in_double(x));
    return quotient ? root / x : one / root;
  }

  static A sin(A x, bool second) {
    return second ? two * (sin_of(x / two) * cos_of(x / two)) : sin_of(x);
  }

  static A cos(A x, bool second) {
    return second && in_double(x) != 0 ? sin_of(two * x) / (two * sin_of(x)) : cos_of(x);
  }

  static A apply(Pointwise f, A x, bool second) {
    switch (f) {
      case Pointwise::kSigmoid:
        return sigmoid(x, second);
      case Pointwise::kSilu:
        return silu(x, second);
      case Pointwise::kTanh:
        return tanh(x, second);
      case Pointwise::kExp:
        return exp(x, second);
      case Pointwise::kLog:
        return log(x, second);
      case Pointwise::kRsqrt:
        return rsqrt(x, second);
      case Pointwise::kSin:
        return sin(x, second);
      case Pointwise::kCos:
        break;
    }
    return cos(x, second);
  }
};

class PointwiseOp {
 public:
  explicit PointwiseOp(Pointwise f) : f_(f) {}

  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const bool second = order != Order::kSequential;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      y[i] = In<A>::apply(f_, static_cast<A>(argument(operands, elements[i])), second);
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool rounds_root = f_ == Pointwise::kRsqrt
                                 ? analysis.form({"", "round-root"}) == "round-root"
                                 : !analysis.form({""}).empty();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      bound[i] = analysis.output(error(analysis, argument(operands, elements[i]), rounds_root));
    }
  }

 private:
  /// Log and rsqrt are asked of |x|: half of all inputs would give NaN.
  double argument(const Operands& operands, std::int64_t element) const {
    const double x = operands.values[0][element];
    return f_ == Pointwise::kLog || f_ == Pointwise::kRsqrt ? std::fabs(x) : x;
  }

  Approx error(const ErrorAnalysis& analysis, double x, bool rounds_root) const {
    if (f_ == Pointwise::kSilu || f_ == Pointwise::kSigmoid) return logistic(analysis, x);
    if (f_ == Pointwise::kRsqrt) {
      const Approx root = analysis.root({x, 0});
      return analysis.div({1, 0}, rounds_root ? analysis.to_subject(root) : root);
    }
    return analysis.function(In<double>::apply(f_, x, false), 0, {x, 0});
  }

  /// 1 / (1 + exp(-x)), and x times that. The exponential may overflow, or that of x be flushed,
  /// where the result is less than its smallest normal number, or x times that, from 0.
  Approx logistic(const ErrorAnalysis& analysis, double x) const {
    const bool silu = f_ == Pointwise::kSilu;
    const double lost = silu ? std::min(std::fabs(x), kLargestExp) : 1;
    Approx y{In<double>::apply(f_, x, false), 0};
    if (-x <= kLargestExp) {
      const double value = wide_exp(-x);
      y = analysis.div({1, 0}, analysis.add({1, 0}, analysis.function(value, value, {-x, 0})));
      if (silu) y = analysis.mul({x, 0}, y);
    }
    y.error += lost * analysis.smallest_normal();
    return y;
  }

  Pointwise f_;
};

/// x^e; two honest evaluations: the function, or the square of x^(e/2).
class Pow {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto [x, e] = arguments(operands, elements[i]);
      const bool root = order != Order::kSequential;
      const A power = rounded<A>(wide_pow(x, root ? e / 2 : e));
      y[i] = root ? power * power : power;
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool rounds_square = analysis.form({"", "round-square"}) == "round-square";
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto [x, e] = arguments(operands, elements[i]);
      Approx y = analysis.function(wide_pow(x, e).hi, 0, {x, 0});
      if (rounds_square && e == 3) {
        y = analysis.mul(analysis.to_subject(analysis.mul({x, 0}, {x, 0})), {x, 0});
      }
      bound[i] = analysis.output(y);
    }
  }

 private:
  struct Arguments {
    double x, e;
  };
  static Arguments arguments(const Operands& operands, std::int64_t element) {
    const double x = std::fabs(operands.values[0][element]);
    if (operands.values.size() == 1) return {x, real_attribute(operands.attributes, "exponent")};
    return {x, std::clamp(operands.values[1][element], -2.0, 2.0)};
  }
};

}  // namespace

std::shared_ptr<const Reference> pointwise_reference(Pointwise f) {
  return std::make_shared<ReferenceOf<PointwiseOp>>(PointwiseOp(f));
}

std::shared_ptr<const Reference> pow_reference() {
  return std::make_shared<ReferenceOf<Pow>>(Pow());
}

}  // namespace bic

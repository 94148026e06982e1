#include <algorithm>
#include <cmath>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"

namespace bic {
namespace {

class BinaryOp {
 public:
  explicit BinaryOp(Binary op) : op_(op) {}

  template <class A>
  void evaluate(const Operands& operands,
                Order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const A alpha = static_cast<A>(alpha_of(operands));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const A x = static_cast<A>(operands.values[0][elements[i]]);
      const A o = static_cast<A>(other(operands, elements[i]));
      y[i] = op_ == Binary::kAdd ? x + alpha * o : op_ == Binary::kMul ? x * o : x / o;
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool rounds = analysis.form({"", "round-alpha"}) == "round-alpha";
    const double alpha = alpha_of(operands);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Approx x{operands.values[0][elements[i]], 0}, o{other(operands, elements[i]), 0};
      Approx y;
      if (op_ == Binary::kAdd) {
        y = analysis.add(x, alpha == 1 ? o : scaled(analysis, alpha, o, rounds));
      } else {
        y = op_ == Binary::kMul ? analysis.mul(x, o) : analysis.div(x, o);
      }
      bound[i] = analysis.output(y);
    }
  }

 private:
  static Approx scaled(const ErrorAnalysis& analysis, double alpha, Approx o, bool rounds) {
    const Approx factor = analysis.rounded(alpha);
    if (!rounds) return analysis.mul(factor, o);
    const Approx product = analysis.mul(analysis.to_subject(factor), o);
    return {product.value, std::max(product.error, analysis.to_subject(product).error)};
  }

  static double alpha_of(const Operands& operands) {
    return operands.attributes.contains("alpha") ? real_attribute(operands.attributes, "alpha") : 1;
  }

  static double other(const Operands& operands, std::int64_t element) {
    const auto& o = operands.values[1];
    const auto row = operands.dims.find("t");
    if (row != operands.dims.end()) return o[element / operands.dims.at("h")];
    return o[element % static_cast<std::int64_t>(o.size())];
  }

  Binary op_;
};

/// x c + r s, r being (-x2, x1) of the halves x1, x2 of each row.
class Rotary {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms t = terms(operands, elements[i]);
      y[i] = static_cast<A>(t.x) * static_cast<A>(t.cosine) +
             static_cast<A>(t.rotated) * static_cast<A>(t.sine);
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool rounds = analysis.form({"", "round-products"}) == "round-products";
    const auto product = [&](double a, double b) {
      const Approx p = analysis.mul({a, 0}, {b, 0});
      return rounds ? analysis.to_subject(p) : p;
    };
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms t = terms(operands, elements[i]);
      bound[i] = analysis.output(analysis.add(product(t.x, t.cosine), product(t.rotated, t.sine)));
    }
  }

 private:
  struct Terms {
    double x, cosine, rotated, sine;
  };

  static Terms terms(const Operands& operands, std::int64_t element) {
    const std::int64_t half = operands.dims.at("d"), width = 2 * half;
    const std::int64_t column = element % width;
    const std::int64_t angle = element / (width * operands.dims.at("h")) * width + column;
    const auto& x = operands.values[0];
    const double rotated = column < half ? -x[element + half] : x[element - half];
    return {x[element], operands.values[1][angle], rotated, operands.values[2][angle]};
  }
};

}  // namespace

std::shared_ptr<const Reference> binary_reference(Binary op) {
  return std::make_shared<ReferenceOf<BinaryOp>>(BinaryOp(op));
}

std::shared_ptr<const Reference> rotary_reference() {
  return std::make_shared<ReferenceOf<Rotary>>(Rotary());
}

}  // namespace bic

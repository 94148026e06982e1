#include <algorithm>
#include <cmath>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/norm_error.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"

namespace bic {
namespace {

using std::sqrt;  // beside sqrt(DoubleDouble)

/// Operands of one element's channel.
struct Channel {
  double mean, variance;
  double weight = 1, bias = 0;
};

class BatchNorm {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const A eps = static_cast<A>(real_attribute(operands.attributes, "eps"));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const A x = static_cast<A>(operands.values[0][elements[i]]);
      const Channel c = channel_of(operands, elements[i]);
      const A d = x - static_cast<A>(c.mean), root = sqrt(static_cast<A>(c.variance) + eps);
      const A z = order == Order::kSequential ? d * (static_cast<A>(1.0) / root) : d / root;
      y[i] = z * static_cast<A>(c.weight) + static_cast<A>(c.bias);
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const std::string_view form = analysis.form({"", "folded", "round-all"});
    const double eps = real_attribute(operands.attributes, "eps");
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double x = operands.values[0][elements[i]];
      const Channel c = channel_of(operands, elements[i]);
      bound[i] = analysis.output(centred(analysis, x, c, eps));
      if (form.empty()) continue;
      bound[i] = std::max(bound[i], analysis.output(fold(analysis, x, c, eps)));
      if (form == "folded") continue;
      bound[i] = std::max(bound[i], analysis.output(round_all(analysis, x, c, eps)));
    }
  }

 private:
  static Approx centred(const ErrorAnalysis& analysis, double x, const Channel& c, double eps) {
    Approx y = analysis.sub({x, 0}, {c.mean, 0});
    y = analysis.mul(y, rstd_of(analysis, {c.variance, 0}, eps));
    if (c.weight != 1) y = analysis.mul(y, {c.weight, 0});
    return c.bias == 0 ? y : analysis.add(y, {c.bias, 0});
  }

  static Approx fold(const ErrorAnalysis& analysis, double x, const Channel& c, double eps) {
    const Approx rstd = rstd_of(analysis, {c.variance, 0}, eps);
    const Approx scale = c.weight == 1 ? rstd : analysis.mul(rstd, {c.weight, 0});
    return folded(analysis, x, {c.mean, 0}, scale, c.bias);
  }

  static Approx round_all(const ErrorAnalysis& analysis, double x, const Channel& c, double eps) {
    const auto rounded = [&](Approx y) { return analysis.to_subject(y); };
    const Approx shifted = rounded(analysis.add({c.variance, 0}, analysis.rounded(eps)));
    const Approx rstd = rounded(analysis.div({1, 0}, rounded(analysis.root(shifted))));
    Approx y = rounded(analysis.mul(rounded(analysis.sub({x, 0}, {c.mean, 0})), rstd));
    if (c.weight != 1) y = rounded(analysis.mul(y, {c.weight, 0}));
    return c.bias == 0 ? y : rounded(analysis.add(y, {c.bias, 0}));
  }

  static Channel channel_of(const Operands& operands, std::int64_t element) {
    const auto& v = operands.values;
    const auto inner = static_cast<std::int64_t>(v[0].size() / v[1].size());
    const std::int64_t c = element / inner;
    const bool affine = v.size() > 3;
    return {v[1][c], std::fabs(v[2][c]), affine ? v[3][c] : 1, affine ? v[4][c] : 0};
  }
};

}  // namespace

std::shared_ptr<const Reference> batch_norm_reference() {
  return std::make_shared<ReferenceOf<BatchNorm>>(BatchNorm());
}

}  // namespace bic

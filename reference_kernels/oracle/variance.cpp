#include <algorithm>
#include <cmath>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/moments.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"

namespace bic {
namespace {

using std::sqrt;  // beside sqrt(DoubleDouble)

class Variance {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const bool wants_mean = text_attribute(operands.attributes, "output", "") == "mean";
    const bool wants_root = text_attribute(operands.attributes, "output", "") == "std";
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms x = terms_of(operands, elements[i]);
      const A mean =
          sum_in_order<A>(order, x.extent, [&](std::int64_t r) { return static_cast<A>(x[r]); }) /
          static_cast<A>(static_cast<double>(x.extent));
      const A squares = sum_in_order<A>(order, x.extent, [&](std::int64_t r) {
        const A deviation = static_cast<A>(x[r]) - mean;
        return deviation * deviation;
      });
      const A variance = squares / static_cast<A>(divisor_of(operands, x.extent));
      y[i] = wants_mean ? mean : wants_root ? sqrt(variance) : variance;
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool welford = analysis.form({"", "welford"}) == "welford";
    const std::string output = text_attribute(operands.attributes, "output", "");
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms x = terms_of(operands, elements[i]);
      const RowMoments m = moments_of(analysis, x, welford);
      const double scale = static_cast<double>(x.extent) / divisor_of(operands, x.extent);
      // Another divisor than the number of terms, perhaps no power of two: at most two roundings.
      const double error = m.variance.error * scale;
      const double value = m.variance.value * scale;
      const Approx variance{value, error + analysis.gamma(2) * (value + error)};
      bound[i] = analysis.output(output == "mean"  ? m.mean
                                 : output == "std" ? analysis.root(variance)
                                                   : variance);
    }
  }

 private:
  static double divisor_of(const Operands& operands, std::int64_t count) {
    const double correction = real_attribute(operands.attributes, "correction");
    return std::max(0.0, static_cast<double>(count) - correction);
  }
};

}  // namespace

std::shared_ptr<const Reference> variance_reference() {
  return std::make_shared<ReferenceOf<Variance>>(Variance());
}

}  // namespace bic

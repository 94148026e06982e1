#include <cmath>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"
#include "reference_kernels/oracle/terms.h"

namespace bic {
namespace {

using std::sqrt;  // beside sqrt(DoubleDouble)

class VectorNorm {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const bool of_squares = real_attribute(operands.attributes, "ord") == 2;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms x = terms_of(operands, elements[i]);
      const A sum = sum_in_order<A>(order, x.extent, [&](std::int64_t r) {
        const A v = static_cast<A>(std::fabs(x[r]));
        return of_squares ? v * v : v;
      });
      y[i] = of_squares ? sqrt(sum) : sum;
    }
  }

  /// A sum of positive terms in any order (Higham 4.2): gamma_(n-1), of squares gamma_n (3.1).
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    analysis.form({""});
    const bool of_squares = real_attribute(operands.attributes, "ord") == 2;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms x = terms_of(operands, elements[i]);
      const double value = sum_lanes<double>(
          x.extent, [&](std::int64_t r) { return of_squares ? x[r] * x[r] : std::fabs(x[r]); });
      const double underflow = of_squares ? analysis.underflow() * x.extent : 0;
      const Approx sum =
          analysis.sum(value, value, underflow, x.extent - (of_squares ? 0 : 1), x.extent);
      bound[i] = analysis.output(of_squares ? analysis.root(sum) : sum);
    }
  }
};

}  // namespace

std::shared_ptr<const Reference> vector_norm_reference() {
  return std::make_shared<ReferenceOf<VectorNorm>>(VectorNorm());
}

}  // namespace bic

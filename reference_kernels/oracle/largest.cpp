#include <algorithm>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/terms.h"

namespace bic {
namespace {

/// NaN if there is one. No order shows: +0 and -0 are equal.
double largest_of(const Terms& x) {
  double m = x[0];
  for (std::int64_t r = 1; r < x.extent && m == m; ++r) {
    if (!(x[r] <= m)) m = x[r];
  }
  return m;
}

class Largest {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      y[i] = static_cast<A>(largest_of(terms_of(operands, elements[i])));
    }
  }

  /// 0: one of the inputs is the output.
  void bound(const Operands&,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t>,
             std::span<double> bound) const {
    analysis.form({""});
    std::ranges::fill(bound, 0.0);
  }
};

}  // namespace

std::shared_ptr<const Reference> largest_reference() {
  return std::make_shared<ReferenceOf<Largest>>(Largest());
}

}  // namespace bic

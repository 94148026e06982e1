#include <cmath>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"
#include "reference_kernels/oracle/terms.h"

namespace bic {
namespace {

/// A number whose sums are products, for the orders of summation.h.
template <class A>
struct Factor {
  A value{1.0};

  Factor() = default;
  explicit Factor(A v) : value(v) {}
  Factor& operator+=(Factor other) { return *this = *this + other; }
  friend Factor operator+(Factor a, Factor b) { return Factor(a.value * b.value); }
};

class Product {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms x = terms_of(operands, elements[i]);
      y[i] = sum_in_order<Factor<A>>(order, x.extent, [&](std::int64_t r) {
               return Factor<A>(static_cast<A>(x[r]));
             }).value;
    }
  }

  /// gamma_(n-1) |y| in any order (Higham 3.1). Partial products are at most the product of the
  /// factors above 1: where they may underflow, each one's error is carried on by at most that.
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    analysis.form({""});
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms x = terms_of(operands, elements[i]);
      double value = 1, large = 1, small = 1;
      for (std::int64_t r = 0; r < x.extent; ++r) {
        value *= x[r];
        (std::fabs(x[r]) > 1 ? large : small) *= std::fabs(x[r]);
      }
      // `sum` refuses what may overflow.
      const Approx most = analysis.sum(large, large, 0, x.extent - 1, x.extent);
      const double roundings = analysis.gamma(x.extent - 1) * std::fabs(value);
      const bool underflows = small < 2 * analysis.smallest_normal();
      const double lost = underflows ? x.extent * analysis.underflow() * (large + most.error) : 0;
      bound[i] = std::isinf(most.error) ? most.error : analysis.output({value, roundings + lost});
    }
  }
};

}  // namespace

std::shared_ptr<const Reference> product_reference() {
  return std::make_shared<ReferenceOf<Product>>(Product());
}

}  // namespace bic

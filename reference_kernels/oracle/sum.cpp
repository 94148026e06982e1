#include <cmath>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"

namespace bic {
namespace {

/// The block seen as [reduced, inner].
class Sum {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const Shape shape = shape_of(operands);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double* x = operands.values[0].data() + elements[i];
      y[i] = sum_in_order<A>(
          order, shape.reduced, [&](std::int64_t r) { return static_cast<A>(x[r * shape.inner]); });
    }
  }

  /// gamma_(n-1) sum |x| for n terms in any order (Higham 4.2).
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    analysis.form({""});
    const Shape shape = shape_of(operands);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double* x = operands.values[0].data() + elements[i];
      const double value =
          sum_lanes<double>(shape.reduced, [&](std::int64_t r) { return x[r * shape.inner]; });
      const double size = sum_lanes<double>(
          shape.reduced, [&](std::int64_t r) { return std::fabs(x[r * shape.inner]); });
      bound[i] = analysis.output(analysis.sum(value, size, 0, shape.reduced - 1, shape.reduced));
    }
  }

 private:
  struct Shape {
    std::int64_t reduced;
    std::int64_t inner;
  };

  static Shape shape_of(const Operands& operands) {
    const auto kept = operands.dims.find("p");
    const std::int64_t inner = kept == operands.dims.end() ? 1 : kept->second;
    return {static_cast<std::int64_t>(operands.values[0].size()) / inner, inner};
  }
};

}  // namespace

std::shared_ptr<const Reference> sum_reference() {
  return std::make_shared<ReferenceOf<Sum>>(Sum());
}

}  // namespace bic

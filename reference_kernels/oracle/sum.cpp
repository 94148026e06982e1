#include <bit>
#include <cmath>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"
#include "reference_kernels/oracle/terms.h"

namespace bic {
namespace {

class Sum {
 public:
  explicit Sum(bool mean) : mean_(mean) {}

  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms x = terms_of(operands, elements[i]);
      y[i] = sum_in_order<A>(order, x.extent, [&](std::int64_t r) { return static_cast<A>(x[r]); });
      if (mean_) y[i] = y[i] / static_cast<A>(static_cast<double>(x.extent));
    }
  }

  /// gamma_(n-1) sum |x| for n terms in any order (Higham 4.2), then the division.
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    analysis.form({""});
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Terms x = terms_of(operands, elements[i]);
      const double value = sum_lanes<double>(x.extent, [&](std::int64_t r) { return x[r]; });
      const double size =
          sum_lanes<double>(x.extent, [&](std::int64_t r) { return std::fabs(x[r]); });
      const Approx sum = analysis.sum(value, size, 0, x.extent - 1, x.extent);
      bound[i] = analysis.output(mean_ ? mean_of(analysis, sum, x.extent) : sum);
    }
  }

 private:
  /// By division, or the rounded reciprocal and a product; exact for a power of two.
  static Approx mean_of(const ErrorAnalysis& analysis, Approx sum, std::int64_t n) {
    const double count = static_cast<double>(n);
    const Approx mean{sum.value / count, sum.error / count};
    const int roundings = std::has_single_bit(static_cast<std::uint64_t>(n)) ? 0 : 2;
    return {mean.value,
            mean.error + analysis.gamma(roundings) * (std::fabs(mean.value) + mean.error) +
                2 * analysis.underflow()};
  }

  bool mean_;
};

}  // namespace

std::shared_ptr<const Reference> sum_reference() {
  return std::make_shared<ReferenceOf<Sum>>(Sum(false));
}

std::shared_ptr<const Reference> mean_reference() {
  return std::make_shared<ReferenceOf<Sum>>(Sum(true));
}

}  // namespace bic

#include <cmath>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"
#include "reference_kernels/oracle/terms.h"

namespace bic {
namespace {

/// The sums of the first 1, 2, 3, … terms of one column, each in the order of `sum_lanes`: what
/// they share is added once.
template <class A>
class GrowingSum {
 public:
  /// Of term(0) + … + term(count - 1); `count` never falls from call to call.
  template <class Term>
  A of_first(std::int64_t count, const Term& term) {
    for (; added_ < count; ++added_) lanes_[added_ % kLanes] += term(added_);
    return sum_lanes<A>(kLanes, [&](std::int64_t l) { return lanes_[l]; });
  }

 private:
  static constexpr std::int64_t kLanes = 16;
  std::array<A, kLanes> lanes_{};
  std::int64_t added_ = 0;
};

class Cumsum {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const RowBlock block = row_block(operands);
    std::vector<GrowingSum<A>> rows(block.outer * block.inner);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Place place = place_of(block, elements[i]);
      const Terms x = terms_of(operands, place.row);
      const auto term = [&](std::int64_t r) { return static_cast<A>(x[r]); };
      y[i] = order == Order::kLanes16 ? rows[place.row].of_first(place.count, term)
                                      : sum_in_order<A>(order, place.count, term);
    }
  }

  /// Each output is a sum of its own, of n terms in any order: gamma_(n-1) sum |x| (Higham 4.2).
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    analysis.form({""});
    const RowBlock block = row_block(operands);
    std::vector<GrowingSum<double>> values(block.outer * block.inner), sizes(values.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto [row, count] = place_of(block, elements[i]);
      const Terms x = terms_of(operands, row);
      const double value = values[row].of_first(count, [&](std::int64_t r) { return x[r]; });
      const double size =
          sizes[row].of_first(count, [&](std::int64_t r) { return std::fabs(x[r]); });
      bound[i] = analysis.output(analysis.sum(value, size, 0, count - 1, count));
    }
  }

 private:
  /// An output is the sum of the first `count` terms of a row.
  struct Place {
    std::int64_t row, count;
  };

  static Place place_of(const RowBlock& block, std::int64_t element) {
    const std::int64_t along = element / block.inner;
    return {along / block.reduced * block.inner + element % block.inner, along % block.reduced + 1};
  }
};

}  // namespace

std::shared_ptr<const Reference> cumsum_reference() {
  return std::make_shared<ReferenceOf<Cumsum>>(Cumsum());
}

}  // namespace bic

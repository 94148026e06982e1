#include <functional>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"

namespace bic {
namespace {

/// The element of an operand that an element of the output is a copy of.
struct Source {
  std::size_t operand;
  std::int64_t element;
};
using SourceOf = std::function<Source(const Operands&, std::int64_t element)>;

/// Copies: every order gives the same bytes, and no error is honest.
class Move {
 public:
  explicit Move(SourceOf source_of) : source_of_(std::move(source_of)) {}

  template <class A>
  void evaluate(const Operands& operands,
                Order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Source s = source_of_(operands, elements[i]);
      y[i] = static_cast<A>(operands.values[s.operand][s.element]);
    }
  }

  void bound(const Operands&,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t>,
             std::span<double> bound) const {
    analysis.form({""});
    for (double& b : bound) b = 0;
  }

 private:
  SourceOf source_of_;
};

std::shared_ptr<const Reference> move_reference(SourceOf source_of) {
  return std::make_shared<ReferenceOf<Move>>(Move(std::move(source_of)));
}

}  // namespace

std::shared_ptr<const Reference> rows_reference() {
  return move_reference([](const Operands& o, std::int64_t element) -> Source {
    const std::int64_t h = o.dims.at("h");
    return {1, static_cast<std::int64_t>(o.values[0][element / h]) * h + element % h};
  });
}

std::shared_ptr<const Reference> cat_reference() {
  return move_reference([](const Operands& o, std::int64_t element) -> Source {
    const auto first = static_cast<std::int64_t>(o.values[0].size());
    return element < first ? Source{0, element} : Source{1, element - first};
  });
}

std::shared_ptr<const Reference> where_reference() {
  return move_reference([](const Operands& o, std::int64_t element) -> Source {
    const auto& condition = o.values[0];
    const bool chosen = condition[element % static_cast<std::int64_t>(condition.size())] != 0;
    return {chosen ? std::size_t{1} : std::size_t{2}, element};
  });
}

}  // namespace bic

#pragma once

#include <vector>

#include "generators/laws.h"
#include "reference_kernels/oracle/double_double.h"
#include "reference_kernels/oracle/error_analysis.h"
#include "reference_kernels/oracle/reference.h"

namespace bic {

/// A Reference from an op's maths. `Op` is immutable and has
///   template <class A> void evaluate(const Operands&, Order, elements, std::span<A> y) const,
/// the formula in type A, float, double or DoubleDouble, sums in that order; and
///   void bound(const Operands&, const ErrorAnalysis&, elements, std::span<double>) const.
template <class Op>
class ReferenceOf final : public Reference {
 public:
  explicit ReferenceOf(Op op) : op_(op) {}

  void wide(const Operands& operands,
            DType subject,
            std::span<const std::int64_t> elements,
            std::span<Wide> y) const override {
    // 16 lanes: independent chains are the fastest order.
    if (subject == DType::kFloat64) {
      const auto values = evaluate<DoubleDouble>(operands, Order::kLanes16, elements);
      for (std::size_t i = 0; i < values.size(); ++i) y[i] = {values[i].hi, values[i].lo};
    } else {
      const auto values = evaluate<double>(operands, Order::kLanes16, elements);
      for (std::size_t i = 0; i < values.size(); ++i) y[i] = {values[i], 0};
    }
  }

  void bound(const Operands& operands,
             DType subject,
             const Arithmetic& arithmetic,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const override {
    op_.bound(operands, ErrorAnalysis(arithmetic, subject), elements, bound);
  }

  void control(const Operands& operands,
               DType subject,
               Order order,
               std::span<const std::int64_t> elements,
               std::span<double> y) const override {
    if (subject == DType::kFloat64) {
      op_.template evaluate<double>(operands, order, elements, y);
      return;
    }
    const auto values = evaluate<float>(operands, order, elements);
    for (std::size_t i = 0; i < values.size(); ++i) y[i] = round_to(subject, values[i]);
  }

 private:
  template <class A>
  std::vector<A> evaluate(const Operands& operands,
                          Order order,
                          std::span<const std::int64_t> elements) const {
    std::vector<A> values(elements.size());
    op_.template evaluate<A>(operands, order, elements, std::span<A>(values));
    return values;
  }

  Op op_;
};

}  // namespace bic

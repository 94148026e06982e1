#include <algorithm>
#include <cmath>
#include <optional>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"
#include "reference_kernels/oracle/wide_math.h"

namespace bic {
namespace {

/// One softmax: x[r * stride] for r < extent.
struct Column {
  const double* x;
  std::int64_t stride;
  std::int64_t extent;

  /// NaN if there is one.
  double largest() const {
    double m = x[0];
    for (std::int64_t r = 1; r < extent; ++r) {
      const double v = x[r * stride];
      if (v > m || v != v) m = v;
      if (m != m) break;
    }
    return m;
  }
};

/// The block seen as [h, inner].
class Softmax {
 public:
  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const std::int64_t inner = inner_of(operands);
    std::vector<std::optional<Row<A>>> rows(inner);
    const auto exponential = [](double x, A largest) {
      return wide_exp(static_cast<A>(x) - largest);
    };
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::optional<Row<A>>& row = rows[elements[i] % inner];
      if (!row) {
        const Column column = column_of(operands, elements[i] % inner);
        const A largest = static_cast<A>(column.largest());
        row = Row<A>{largest, sum_in_order<A>(order, column.extent, [&](std::int64_t r) {
                       return exponential(column.x[r * inner], largest);
                     })};
      }
      y[i] = exponential(operands.values[0][elements[i]], row->largest) / row->sum;
    }
  }

  /// Subtraction, exp, a sum of positive terms in any order (gamma_(n-1), Higham 4.2), a division.
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const std::string_view form = analysis.form({"", "reciprocal", "round-exp"});
    const std::int64_t inner = inner_of(operands);
    std::vector<std::optional<Row<Approx>>> rows(inner);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::optional<Row<Approx>>& row = rows[elements[i] % inner];
      if (!row) row = row_of(analysis, column_of(operands, elements[i] % inner));
      const Approx e = exponential(analysis, operands.values[0][elements[i]], row->largest.value);
      bound[i] = analysis.output(quotient(analysis, form, e, row->sum));
    }
  }

 private:
  /// What the elements of one column share.
  template <class A>
  struct Row {
    A largest;
    A sum;
  };

  static std::int64_t inner_of(const Operands& operands) {
    return static_cast<std::int64_t>(operands.values[0].size()) / operands.dims.at("h");
  }

  static Column column_of(const Operands& operands, std::int64_t index) {
    return {operands.values[0].data() + index, inner_of(operands), operands.dims.at("h")};
  }

  static Approx quotient(const ErrorAnalysis& analysis,
                         std::string_view form,
                         Approx e,
                         Approx sum) {
    if (form == "reciprocal") return analysis.mul(e, analysis.div({1, 0}, sum));
    return analysis.div(form == "round-exp" ? analysis.to_subject(e) : e, sum);
  }

  static Approx exponential(const ErrorAnalysis& analysis, double x, double largest) {
    const Approx d = analysis.sub({x, 0}, {largest, 0});
    return analysis.function(wide_exp(d.value), wide_exp(std::min(d.value + d.error, 0.0)), d);
  }

  static Row<Approx> row_of(const ErrorAnalysis& analysis, const Column& column) {
    const double largest = column.largest();
    Approx all;
    for (std::int64_t r = 0; r < column.extent; ++r) {
      const Approx e = exponential(analysis, column.x[r * column.stride], largest);
      all.value += e.value;
      all.error += e.error;
    }
    return {{largest, 0},
            analysis.sum(all.value, all.value, all.error, column.extent - 1, column.extent)};
  }
};

}  // namespace

std::shared_ptr<const Reference> softmax_reference() {
  return std::make_shared<ReferenceOf<Softmax>>(Softmax());
}

}  // namespace bic

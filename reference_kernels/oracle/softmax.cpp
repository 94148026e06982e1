#include <algorithm>
#include <cmath>
#include <optional>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"
#include "reference_kernels/oracle/terms.h"
#include "reference_kernels/oracle/wide_math.h"

namespace bic {
namespace {

enum class Result : std::uint8_t { kProbability, kLogProbability, kLogSum };

/// NaN if there is one.
double largest_of(const Terms& x) {
  double m = x[0];
  for (std::int64_t r = 1; r < x.extent; ++r) {
    if (x[r] > m || x[r] != x[r]) m = x[r];
    if (m != m) break;
  }
  return m;
}

class Softmax {
 public:
  explicit Softmax(Result result) : result_(result) {}

  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const auto exponential = [](double x, A shift) { return wide_exp(static_cast<A>(x) - shift); };
    Rows<A> rows(operands);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Row<A>& row = rows.of(elements[i], [&](const Terms& x) -> Row<A> {
        const A shift = static_cast<A>(shift_of(x));
        return {shift, sum_in_order<A>(order, x.extent, [&](std::int64_t r) {
                  return exponential(x[r], shift);
                })};
      });
      const double x = operands.values[0][elements[i]];
      if (result_ == Result::kProbability) y[i] = exponential(x, row.shift) / row.sum;
      if (result_ == Result::kLogSum) y[i] = wide_log(row.sum) + row.shift;
      if (result_ != Result::kLogProbability) continue;
      y[i] = (static_cast<A>(x) - row.shift) - wide_log(row.sum);
    }
  }

  /// Subtraction, exp, a sum of positive terms in any order (gamma_(n-1), Higham 4.2), then a
  /// division or a logarithm.
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const std::string_view form = form_of(analysis);
    Rows<Approx> rows(operands);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Row<Approx>& row = rows.of(
          elements[i], [&](const Terms& x) { return row_of(analysis, form, x, shift_of(x)); });
      bound[i] = analysis.output(output(analysis, form, operands.values[0][elements[i]], row));
      if (form.starts_with("round-")) bound[i] += oracle_error(terms_of(operands, 0).extent);
    }
  }

 private:
  /// What the outputs over the same terms share.
  template <class A>
  struct Row {
    A shift;
    A sum;
  };

  /// The rows of a block, each computed when first asked for.
  template <class A>
  class Rows {
   public:
    explicit Rows(const Operands& operands)
        : operands_(operands), rows_(terms_of(operands, 0).stride) {}

    template <class Make>
    const Row<A>& of(std::int64_t element, Make make) {
      const auto column = element % static_cast<std::int64_t>(rows_.size());
      if (!rows_[column]) rows_[column] = make(terms_of(operands_, column));
      return *rows_[column];
    }

   private:
    const Operands& operands_;
    std::vector<std::optional<Row<A>>> rows_;
  };

  /// Rounding to 16 bits absorbs small errors of an implementation's sum, but not those of the
  /// oracle's: n 2^-53 of the sum, and as much of its logarithm.
  static double oracle_error(std::int64_t n) { return static_cast<double>(n) * 0x1p-52; }

  /// What is subtracted before exp. The sum of exps of an infinite maximum is infinite or 0.
  double shift_of(const Terms& x) const {
    const double largest = largest_of(x);
    return result_ == Result::kLogSum && std::isinf(largest) ? 0 : largest;
  }

  std::string_view form_of(const ErrorAnalysis& analysis) const {
    if (result_ == Result::kProbability) return analysis.form({"", "reciprocal", "round-exp"});
    if (result_ == Result::kLogProbability) return analysis.form({"", "round-log"});
    return analysis.form({"", "round-all"});
  }

  Approx output(const ErrorAnalysis& analysis,
                std::string_view form,
                double x,
                const Row<Approx>& row) const {
    if (result_ == Result::kProbability) {
      const Approx e = exponential(analysis, x, row.shift.value);
      if (form == "reciprocal") return analysis.mul(e, analysis.div({1, 0}, row.sum));
      return analysis.div(form == "round-exp" ? analysis.to_subject(e) : e, row.sum);
    }
    const Approx log = logarithm(analysis, form, row.sum);
    if (result_ == Result::kLogSum) return analysis.add(log, row.shift);
    return analysis.sub(analysis.sub({x, 0}, row.shift), log);
  }

  static Approx exponential(const ErrorAnalysis& analysis, double x, double shift) {
    return exp_of(analysis, analysis.sub({x, 0}, {shift, 0}));
  }

  static Approx exp_of(const ErrorAnalysis& analysis, Approx d) {
    return analysis.function(wide_exp(d.value), wide_exp(std::min(d.value + d.error, 0.0)), d);
  }

  static Approx logarithm(const ErrorAnalysis& analysis, std::string_view form, Approx sum) {
    if (!form.empty()) sum = analysis.to_subject(sum);
    const double slope = 1 / std::max(sum.value - sum.error, analysis.smallest_normal());
    const Approx log = analysis.function(wide_log(sum.value), slope, sum);
    return form.empty() ? log : analysis.to_subject(log);
  }

  static Row<Approx> row_of(const ErrorAnalysis& analysis,
                            std::string_view form,
                            const Terms& x,
                            double shift) {
    Approx all;
    for (std::int64_t r = 0; r < x.extent; ++r) {
      Approx e = exponential(analysis, x[r], shift);
      if (form == "round-all") {
        const Approx d = analysis.to_subject(analysis.sub({x[r], 0}, {shift, 0}));
        e = analysis.to_subject(exp_of(analysis, d));
      }
      all.value += e.value;
      all.error += e.error;
    }
    return {{shift, 0}, analysis.sum(all.value, all.value, all.error, x.extent - 1, x.extent)};
  }

  Result result_;
};

std::shared_ptr<const Reference> reference(Result result) {
  return std::make_shared<ReferenceOf<Softmax>>(Softmax(result));
}

}  // namespace

std::shared_ptr<const Reference> softmax_reference() { return reference(Result::kProbability); }
std::shared_ptr<const Reference> log_softmax_reference() {
  return reference(Result::kLogProbability);
}
std::shared_ptr<const Reference> logsumexp_reference() { return reference(Result::kLogSum); }

}  // namespace bic

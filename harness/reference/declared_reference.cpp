#include "harness/reference/declared_reference.h"

#include <cmath>

#include "generators/laws.h"
#include "harness/judge/permuted.h"
#include "reference_kernels/oracle/error_analysis.h"
#include "results_schema/axis.h"

namespace bic {
namespace {

class DeclaredReference final : public Reference {
 public:
  DeclaredReference(const OpSpecFile& spec, std::shared_ptr<StockEvaluator> stock)
      : op_(spec.op.name),
        variant_(spec.op.variants[0]),
        text_(spec.reference),
        claim_(spec.bound),
        stock_(std::move(stock)) {}

  void wide(const Operands& operands,
            DType,
            std::span<const std::int64_t> elements,
            std::span<Wide> y) const override {
    const auto all = evaluate("reference", text_, DType::kFloat64, operands, operands.values);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = {all[index(elements[i])], 0};
  }

  void bound(const Operands& operands,
             DType subject,
             const Arithmetic& arithmetic,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const override {
    const ErrorAnalysis analysis(arithmetic, subject);
    analysis.form({""});
    const auto y = evaluate("reference", text_, DType::kFloat64, operands, operands.values);
    const auto sizes = claim_.magnitude.empty() ? y : magnitudes(operands);
    for (std::size_t i = 0; i < bound.size(); ++i) {
      const std::size_t at = index(elements[i]);
      const double error = error_of(analysis, operands, arithmetic, subject, std::fabs(sizes[at]));
      bound[i] = analysis.output({y[at], error});
    }
  }

  void control(const Operands& operands,
               DType subject,
               Order order,
               std::span<const std::int64_t> elements,
               std::span<double> y) const override {
    const DType arithmetic = subject == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    std::vector<std::vector<double>> turned;
    std::vector<std::span<const double>> values;
    for (std::size_t i = 0; i < operands.values.size(); ++i) {
      turned.push_back(permuted(variant_.inputs[i],
                                variant_,
                                operands.dims,
                                order,
                                operands.values[i],
                                Permuting::kInto));
    }
    for (const auto& t : turned) values.emplace_back(t);
    const auto all = permuted(variant_.output,
                              variant_,
                              operands.dims,
                              order,
                              evaluate("reference", text_, arithmetic, operands, values),
                              Permuting::kBack);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = round_to(subject, all[index(elements[i])]);
  }

 private:
  static std::size_t index(std::int64_t element) { return static_cast<std::size_t>(element); }

  std::vector<double> evaluate(const char* what,
                               const std::string& text,
                               DType dtype,
                               const Operands& operands,
                               const std::vector<std::span<const double>>& values) const {
    const StockCall call{.op = op_,
                         .what = what,
                         .text = text,
                         .dtype = dtype,
                         .dims = operands.dims,
                         .attributes = operands.attributes};
    return stock_->evaluate(call, variant_, values);
  }

  std::vector<double> magnitudes(const Operands& operands) const {
    return evaluate(
        "bound.magnitude", claim_.magnitude, DType::kFloat64, operands, operands.values);
  }

  /// Before the output's rounding. The oracle's own sums are in fp64, so that of a subject in fp64
  /// errs as much as the subject may.
  double error_of(const ErrorAnalysis& analysis,
                  const Operands& operands,
                  const Arithmetic& arithmetic,
                  DType subject,
                  double magnitude) const {
    const std::int64_t sides = subject == DType::kFloat64 ? 2 : 1;
    const std::int64_t roundings = axis_extent(claim_.roundings, operands.dims, 1) * sides;
    const double ulps = 2 * analysis.unit() * arithmetic.elementary_ulps * claim_.functions *
                        static_cast<double>(sides);
    const double rounded = std::ldexp(claim_.output_roundings, -precision(subject));
    return (analysis.gamma(roundings) + ulps + rounded) * magnitude +
           static_cast<double>(roundings) * analysis.underflow();
  }

  std::string op_;
  Variant variant_;
  std::string text_;
  ErrorClaim claim_;
  std::shared_ptr<StockEvaluator> stock_;
};

}  // namespace

std::shared_ptr<const Reference> declared_reference(const OpSpecFile& spec,
                                                    std::shared_ptr<StockEvaluator> stock) {
  return std::make_shared<DeclaredReference>(spec, std::move(stock));
}

}  // namespace bic

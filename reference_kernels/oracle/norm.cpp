#include <bit>
#include <cmath>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/moments.h"
#include "reference_kernels/oracle/norm_error.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"

namespace bic {
namespace {

using std::sqrt;  // beside sqrt(DoubleDouble)

enum class Kind : std::uint8_t { kLayer, kRms, kGroup };

/// The block as rows of n elements that are normalised together; element i has the affine operands'
/// element i / inner % parameters.
struct Rows {
  std::int64_t n = 1;
  std::int64_t inner = 1;
  std::int64_t parameters = 1;

  std::int64_t parameter(std::int64_t element) const { return element / inner % parameters; }
};

Rows rows_of(Kind kind, const Operands& operands) {
  const auto affine = [&] { return static_cast<std::int64_t>(operands.values[1].size()); };
  if (kind != Kind::kGroup) {
    const std::int64_t n = operands.values.size() > 1 ? affine() : operands.dims.at("h");
    return {.n = n, .inner = 1, .parameters = n};
  }
  std::int64_t inner = 1;
  for (const auto& [dim, extent] : operands.dims) inner *= dim == "c" ? 1 : extent;
  const auto block = static_cast<std::int64_t>(operands.values[0].size());
  return {.n = operands.dims.at("c") * inner, .inner = inner, .parameters = block / inner};
}

/// Mean and rstd of one row in an implementation.
struct Moments {
  Approx mean;
  Approx rstd;
};

class Norm {
 public:
  explicit Norm(Kind kind) : kind_(kind) {}

  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    const Rows rows = rows_of(kind_, operands);
    const A eps = static_cast<A>(real_attribute(operands.attributes, "eps"));
    const A count = static_cast<A>(static_cast<double>(rows.n));
    std::int64_t row = -1;
    A mean{}, rstd{};
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double* x = operands.values[0].data() + elements[i] / rows.n * rows.n;
      const auto term = [&](std::int64_t c) { return static_cast<A>(x[c]); };
      const auto square = [&](std::int64_t c) { return (term(c) - mean) * (term(c) - mean); };
      if (elements[i] / rows.n != row) {
        row = elements[i] / rows.n;
        mean = kind_ == Kind::kRms ? A{} : sum_in_order<A>(order, rows.n, term) / count;
        const A squares = sum_in_order<A>(order, rows.n, square);
        rstd = static_cast<A>(1.0) / sqrt(squares / count + eps);
      }
      y[i] = (term(elements[i] % rows.n) - mean) * rstd;
      const std::int64_t p = rows.parameter(elements[i]);
      if (operands.values.size() > 1) y[i] = y[i] * static_cast<A>(operands.values[1][p]);
      if (operands.values.size() > 2) y[i] = y[i] + static_cast<A>(operands.values[2][p]);
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const std::string_view form = form_of(analysis);
    const Rows rows = rows_of(kind_, operands);
    const double eps = real_attribute(operands.attributes, "eps");
    std::int64_t row = -1;
    Moments m;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::span<const double> x =
          operands.values[0].subspan(elements[i] / rows.n * rows.n, rows.n);
      if (elements[i] / rows.n != row) m = moments(analysis, x, eps, form != "");
      row = elements[i] / rows.n;
      const std::int64_t p = rows.parameter(elements[i]);
      const double w = operands.values.size() > 1 ? operands.values[1][p] : 1;
      const double b = operands.values.size() > 2 ? operands.values[2][p] : 0;
      bound[i] = analysis.output(output(analysis, form, x[elements[i] % rows.n], m, w, b));
    }
  }

 private:
  std::string_view form_of(const ErrorAnalysis& analysis) const {
    if (kind_ == Kind::kLayer) return analysis.form({"", "ax+b"});
    return kind_ == Kind::kGroup ? analysis.form({"", "folded"}) : analysis.form({""});
  }

  Approx output(const ErrorAnalysis& analysis,
                std::string_view form,
                double x,
                const Moments& m,
                double w,
                double b) const {
    const auto times_w = [&](Approx y) { return w == 1 ? y : analysis.mul(y, {w, 0}); };
    if (form == "folded") return folded(analysis, x, m.mean, times_w(m.rstd), b);
    Approx y{x, 0};
    if (form == "ax+b") {
      y = folded(analysis, x, m.mean, m.rstd);
    } else {
      y = analysis.mul(kind_ == Kind::kRms ? y : analysis.sub(y, m.mean), m.rstd);
    }
    return b == 0 ? times_w(y) : analysis.add(times_w(y), {b, 0});
  }

  Moments moments(const ErrorAnalysis& analysis,
                  std::span<const double> x,
                  double eps,
                  bool welford) const {
    const auto n = static_cast<std::int64_t>(x.size());
    if (kind_ == Kind::kRms) return {{}, rstd_of(analysis, mean_square(analysis, x), eps)};
    const RowMoments m = moments_of(analysis, Terms{x.data(), n, 1}, welford);
    return {m.mean, rstd_of(analysis, m.variance, eps)};
  }

  /// Each square goes through its own rounding, the sum in any order (Higham 4.2) and the division:
  /// exact by a power of two, else a division, or the rounded reciprocal and a product.
  static Approx mean_square(const ErrorAnalysis& analysis, std::span<const double> x) {
    const auto n = static_cast<std::int64_t>(x.size());
    const int divisions = std::has_single_bit(static_cast<std::uint64_t>(n)) ? 0 : 2;
    double squares = 0;
    for (double v : x) squares += v * v;
    const double mean = squares / static_cast<double>(n);
    return {mean, analysis.gamma(n + divisions) * mean + 2 * analysis.underflow()};
  }

  Kind kind_;
};

std::shared_ptr<const Reference> norm_reference(Kind kind) {
  return std::make_shared<ReferenceOf<Norm>>(Norm(kind));
}

}  // namespace

std::shared_ptr<const Reference> layer_norm_reference() { return norm_reference(Kind::kLayer); }
std::shared_ptr<const Reference> rms_norm_reference() { return norm_reference(Kind::kRms); }
std::shared_ptr<const Reference> group_norm_reference() { return norm_reference(Kind::kGroup); }

}  // namespace bic

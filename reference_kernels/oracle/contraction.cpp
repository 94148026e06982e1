#include <algorithm>
#include <cmath>
#include <vector>

#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"
#include "reference_kernels/oracle/summation.h"

namespace bic {
namespace {

template <class A>
A product(double a, double b) {
  return static_cast<A>(a) * static_cast<A>(b);
}
template <>
DoubleDouble product<DoubleDouble>(double a, double b) {
  return two_prod(a, b);
}

/// Where the second operand of output element [row, column] lies.
enum class RightOperand : std::uint8_t {
  kColumn,  ///< w[:, column]
  kRow,     ///< w[column, :]
  kStack,   ///< b[row / m, :, column]
};

/// Columns of a row-major matrix [k, n], copied to contiguous memory when first asked for: read in
/// place, every element of a column would cost a cache line.
class Columns {
 public:
  Columns(std::int64_t k, std::int64_t n) : k_(k), n_(n) {}

  const double* column(const double* matrix, std::int64_t index) {
    if (matrix != matrix_) {
      matrix_ = matrix;
      values_.resize(k_ * n_);
      ready_.assign(n_ / kTogether + 1, false);
    }
    const std::int64_t first = index / kTogether * kTogether;
    if (!ready_[index / kTogether]) copy(first, std::min(first + kTogether, n_));
    ready_[index / kTogether] = true;
    return values_.data() + index * k_;
  }

 private:
  static constexpr std::int64_t kTogether = 8;  // doubles of a cache line

  void copy(std::int64_t first, std::int64_t last) {
    for (std::int64_t k = 0; k < k_; ++k) {
      for (std::int64_t j = first; j < last; ++j) values_[j * k_ + k] = matrix_[k * n_ + j];
    }
  }

  std::int64_t k_;
  std::int64_t n_;
  const double* matrix_ = nullptr;
  std::vector<double> values_;
  std::vector<bool> ready_;
};

/// The terms of one output element: a[i] * b[i] for i < k.
struct Dot {
  const double* a;
  const double* b;
  std::int64_t k;
  const double* bias;  ///< or null
};

class Contraction {
 public:
  explicit Contraction(RightOperand right) : right_(right) {}

  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    Columns columns(operands.dims.at("k"), operands.dims.at("n"));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Dot dot = dot_of(operands, elements[i], columns);
      y[i] = sum_in_order<A>(
          order, dot.k, [&](std::int64_t k) { return product<A>(dot.a[k], dot.b[k]); });
      if (dot.bias != nullptr) y[i] += static_cast<A>(*dot.bias);
    }
  }

  /// gamma_K sum |a b|: every term goes through at most its own product and K - 1 additions, with
  /// or without fused multiply-add, in any order (Higham 3.1); the bias makes it K + 1.
  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    const bool early = analysis.form({"", "round-before-bias"}) == "round-before-bias";
    Columns columns(operands.dims.at("k"), operands.dims.at("n"));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Dot dot = dot_of(operands, elements[i], columns);
      const double value =
          sum_lanes<double>(dot.k, [&](std::int64_t k) { return dot.a[k] * dot.b[k]; });
      const double size =
          sum_lanes<double>(dot.k, [&](std::int64_t k) { return std::fabs(dot.a[k] * dot.b[k]); });
      bound[i] = analysis.output(approx(analysis, dot, value, size, early));
    }
  }

 private:
  Dot dot_of(const Operands& operands, std::int64_t element, Columns& columns) const {
    const std::int64_t k = operands.dims.at("k"), n = operands.dims.at("n");
    const std::int64_t row = element / n, column = element % n;
    const std::int64_t stack =
        right_ == RightOperand::kStack ? row / operands.dims.at("m") : std::int64_t{0};
    const double* right = operands.values[1].data() + stack * k * n;
    return {.a = operands.values[0].data() + row * k,
            .b = right_ == RightOperand::kRow ? right + column * k : columns.column(right, column),
            .k = k,
            .bias = operands.values.size() > 2 ? operands.values[2].data() + column : nullptr};
  }

  static Approx approx(
      const ErrorAnalysis& analysis, const Dot& dot, double value, double size, bool early) {
    // A product may underflow, and with flushing so may every partial sum.
    const double underflow = analysis.underflow() * static_cast<double>(dot.k);
    if (dot.bias == nullptr) return analysis.sum(value, size, underflow, dot.k, dot.k);
    if (early) {
      const Approx sum = analysis.to_subject(analysis.sum(value, size, underflow, dot.k, dot.k));
      return analysis.add(sum, {*dot.bias, 0});
    }
    return analysis.sum(
        value + *dot.bias, size + std::fabs(*dot.bias), underflow, dot.k + 1, dot.k + 1);
  }

  RightOperand right_;
};

std::shared_ptr<const Reference> contraction(RightOperand right) {
  return std::make_shared<ReferenceOf<Contraction>>(Contraction(right));
}

}  // namespace

std::shared_ptr<const Reference> mm_reference() { return contraction(RightOperand::kColumn); }
std::shared_ptr<const Reference> linear_reference() { return contraction(RightOperand::kRow); }
std::shared_ptr<const Reference> bmm_reference() { return contraction(RightOperand::kStack); }

}  // namespace bic

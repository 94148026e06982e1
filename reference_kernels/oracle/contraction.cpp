#include <algorithm>
#include <vector>

#include "reference_kernels/oracle/attribute.h"
#include "reference_kernels/oracle/dot_product.h"
#include "reference_kernels/oracle/reference_of.h"
#include "reference_kernels/oracle/references.h"

namespace bic {
namespace {

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

std::int64_t dim_or_one(const Operands& operands, const char* name) {
  const auto at = operands.dims.find(name);
  return at == operands.dims.end() ? 1 : at->second;
}

double factor(const Operands& operands, const char* name) {
  return operands.attributes.contains(name) ? real_attribute(operands.attributes, name) : 1;
}

/// Stacks of matrices, the output's as many as the larger operand's; a smaller operand serves the
/// stacks in turn, as broadcasting of leading axes does. The bias repeats in the same way.
class Contraction {
 public:
  /// The second operand holds matrices [k, n], or [n, k] where `transposed`.
  explicit Contraction(bool transposed) : transposed_(transposed) {}

  template <class A>
  void evaluate(const Operands& operands,
                Order order,
                std::span<const std::int64_t> elements,
                std::span<A> y) const {
    Columns columns(operands.dims.at("k"), dim_or_one(operands, "n"));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      y[i] = dot_of(operands, elements[i], columns).template evaluate<A>(order);
    }
  }

  void bound(const Operands& operands,
             const ErrorAnalysis& analysis,
             std::span<const std::int64_t> elements,
             std::span<double> bound) const {
    Columns columns(operands.dims.at("k"), dim_or_one(operands, "n"));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      bound[i] = dot_of(operands, elements[i], columns).bound(analysis);
    }
  }

 private:
  DotProduct dot_of(const Operands& operands, std::int64_t element, Columns& columns) const {
    const std::int64_t k = operands.dims.at("k"), n = dim_or_one(operands, "n");
    const auto& left = operands.values[0];
    const auto& right = operands.values[1];
    const std::int64_t row = element / n, column = element % n;
    const std::int64_t stack = row / dim_or_one(operands, "m");
    const double* matrix = right.data() + stack * k * n % static_cast<std::int64_t>(right.size());
    const bool has_bias = operands.values.size() > 2;
    const auto repeated = [&](const auto& values, std::int64_t at) {
      return values.data() + at % static_cast<std::int64_t>(values.size());
    };
    return {.a = repeated(left, row * k),
            .b = transposed_ ? matrix + column * k : columns.column(matrix, column),
            .k = k,
            .bias = has_bias ? repeated(operands.values[2], element) : nullptr,
            .alpha = factor(operands, "alpha"),
            .beta = factor(operands, "beta"),
            .scaled = operands.attributes.contains("alpha")};
  }

  bool transposed_;
};

std::shared_ptr<const Reference> contraction(bool transposed) {
  return std::make_shared<ReferenceOf<Contraction>>(Contraction(transposed));
}

}  // namespace

std::shared_ptr<const Reference> linear_reference() { return contraction(true); }
std::shared_ptr<const Reference> matmul_reference() { return contraction(false); }

}  // namespace bic

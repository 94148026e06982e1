#pragma once

#include <cstdint>
#include <vector>

#include "reference_kernels/cuda/cuda_testing.h"

// Rows of numbers in the layouts in which kernels take them along a row.

namespace bic::cuda::testing {

enum class Layout { kRows, kColumns, kStrided };
inline constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kStrided};

/// `rows` rows of n, laid out as asked `offset` elements behind an aligned address, among 99s.
template <class T>
class LaidRows {
 public:
  LaidRows(const std::vector<T>& x,
           std::int64_t rows,
           std::int64_t n,
           Layout layout,
           std::int64_t offset)
      : rows_(rows), n_(n), row_(n + offset) {
    using namespace bic::cpu::testing;  // NOLINT: the tests' own vocabulary
    if (layout == Layout::kColumns) row_ = 1, term_ = rows + offset;
    if (layout == Layout::kStrided) row_ = 2, term_ = 2 * rows + 1;
    is_outer_ = layout == Layout::kRows;
    cells_.assign((rows + 1) * row_ + (n + 1) * term_, narrow<T>(Acc<T>(99)));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t r = 0; r < n; ++r) cells_[i * row_ + r * term_] = x[i * n + r];
    }
  }

  const std::vector<T>& cells() const { return cells_; }

  /// Extents and strides of x and of a y that is laid out alike.
  template <class Args>
  void describe(Args& g) const {
    g.reduced = n_;
    (is_outer_ ? g.outer : g.inner) = rows_;
    g.x_outer = g.y_outer = g.x_inner = g.y_inner = row_;
    g.x_reduced = g.y_reduced = term_;
  }

  /// The first `count` of each row of `out`, beside which nothing must have been written.
  std::vector<T> results(const std::vector<T>& out, std::int64_t count) {
    std::vector<T> y;
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t r = 0; r < count; ++r) {
        y.push_back(out[i * row_ + r * term_]);
        cells_[i * row_ + r * term_] = y.back();
      }
    }
    EXPECT_TRUE(bic::cpu::testing::same_bits(out, cells_)) << "something beside y was written";
    return y;
  }

 private:
  std::int64_t rows_, n_, row_, term_ = 1;
  bool is_outer_ = true;
  std::vector<T> cells_;
};

}  // namespace bic::cuda::testing

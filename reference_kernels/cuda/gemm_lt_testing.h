#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "reference_kernels/cuda/cuda_testing.h"
#include "reference_kernels/cuda/gemm_lt.h"

/// Products for the tests of gemm_lt, in every layout.
namespace bic::cuda::testing {

using cpu::testing::bits_of;
using cpu::testing::same_bits;
using cpu::testing::widen;

/// Operands [batch, m, k], [batch, n, k], [batch, m, n], dense.
template <class T>
struct Product {
  std::int64_t m, n, k, batch;
  std::vector<T> a, w, bias;

  Product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1)
      : m(m),
        n(n),
        k(k),
        batch(batch),
        a(cpu::testing::cancelling_rows<T>(batch * m, k, k)),
        w(cpu::testing::random_values<T>(batch * n * k, k + 1)),
        bias(cpu::testing::random_values<T>(batch * m * n, k + 2)) {
    for (std::int64_t i = 1; i < batch * n * k; ++i) {
      if (i % k % 2 == 1) w[i] = w[i - 1];  // else what cancels in a would not in a * w
    }
  }

  /// sum a w of output o, or sum |a w|.
  double sum(std::int64_t o, bool absolute) const {
    const std::int64_t row = o / n, col = o / (m * n) * n + o % n;
    double sum = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      const double x = static_cast<double>(widen(a[row * k + i])) * widen(w[col * k + i]);
      sum += absolute ? std::abs(x) : x;
    }
    return sum;
  }
};

/// Rows [first, first + count) of a, and their bias; all of w.
template <class T>
Product<T> rows_of(const Product<T>& p, std::int64_t first, std::int64_t count) {
  Product<T> part = p;
  part.m = count;
  part.a.assign(p.a.begin() + first * p.k, p.a.begin() + (first + count) * p.k);
  part.bias.assign(p.bias.begin() + first * p.n, p.bias.begin() + (first + count) * p.n);
  return part;
}

/// Zeros appended to k.
template <class T>
Product<T> longer(const Product<T>& p, std::int64_t zeros) {
  Product<T> part = p;
  part.k = p.k + zeros;
  for (auto [from, to] : {std::pair{&p.a, &part.a}, std::pair{&p.w, &part.w}}) {
    const std::int64_t rows = from->size() / p.k;
    to->assign(rows * part.k, T{});
    for (std::int64_t i = 0; i < rows * p.k; ++i) (*to)[i / p.k * part.k + i % p.k] = (*from)[i];
  }
  return part;
}

enum class Bias { kNone, kRow, kFull };

/// How the operands lie.
struct Lie {
  bool nt = true;
  std::int64_t gap = 0;     ///< elements between rows
  std::int64_t offset = 0;  ///< elements from an aligned address
  std::int64_t step = 1;    ///< from one element of an operand's row to the next
  Bias bias = Bias::kNone;
  double alpha = 1, beta = 1;
};

/// x [rows, cols], or its transpose, as `lie` says.
template <class T>
std::vector<T> lay(const std::vector<T>& x, std::int64_t cols, const Lie& lie, bool transposed) {
  const std::int64_t rows = cols ? x.size() / cols : 0;
  const std::int64_t across = (transposed ? rows : cols) * lie.step + lie.gap;
  std::vector<T> out((transposed ? cols : rows) * across, cpu::testing::strange_nan<T>());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      out[transposed ? j * across + i * lie.step : i * across + j * lie.step] = x[i * cols + j];
    }
  }
  return out;
}

/// Directly where the library can, else by sums.
template <class T>
bool by_library(const cpu::GemmArgs<T>& g, const Launch& launch) {
  return gemm_lt_directly(g, launch) || gemm_lt_by_sums(g, launch);
}

/// y as [batch, m, n]; empty when it is not served.
template <class T>
std::vector<T> run(const Product<T>& p, const Lie& lie = {}) {
  const T guard = cpu::testing::narrow<T>(-77.0f);
  const std::int64_t y_row = p.n + lie.gap;
  const DeviceArray<T> a(lay(p.a, p.k, lie, false), lie.offset), bias(p.bias, lie.offset);
  std::vector<T> laid;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const auto first = p.w.begin() + b * p.n * p.k;
    const auto one = lay(std::vector<T>(first, first + p.n * p.k), p.k, lie, !lie.nt);
    laid.insert(laid.end(), one.begin(), one.end());
  }
  const DeviceArray<T> w(laid, lie.offset);
  DeviceArray<T> y(std::vector<T>(p.batch * p.m * y_row, guard), lie.offset);
  cpu::GemmArgs<T> g{a.data(), w.data(), lie.bias == Bias::kNone ? nullptr : bias.data(), y.data()};
  g.m = p.m, g.n = p.n, g.k = p.k, g.batch = p.batch;
  g.a_k = lie.step, g.a_row = p.k * lie.step + lie.gap, g.a_batch = p.m * g.a_row;
  const std::int64_t across = (lie.nt ? p.k : p.n) * lie.step + lie.gap;
  g.w_k = lie.nt ? lie.step : across, g.w_n = lie.nt ? across : lie.step;
  g.w_batch = (lie.nt ? p.n : p.k) * across;
  g.y_row = y_row, g.y_batch = p.m * y_row;
  if (lie.bias == Bias::kFull) g.bias_row = p.n, g.bias_batch = p.m * p.n;
  g.alpha = lie.alpha, g.beta = lie.beta;
  const TestLaunch launch;
  if (!by_library(g, launch.get())) return {};
  std::vector<T> out;
  const std::vector<T> got = y.values();
  for (std::int64_t i = 0; i < p.batch * p.m * y_row; ++i) {
    if (i % y_row < p.n) {
      out.push_back(got[i]);
    } else {
      EXPECT_EQ(bits_of(got[i]), bits_of(guard)) << "written beyond the row";
    }
  }
  return out;
}

}  // namespace bic::cuda::testing

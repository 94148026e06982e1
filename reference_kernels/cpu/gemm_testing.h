#pragma once

#include <cstdint>
#include <vector>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cpu/gemm_bf16_dot.h"
#include "reference_kernels/cpu/kernel_testing.h"
#include "reference_kernels/cpu/naive.h"

/// Problems for the tests of gemm, in every layout.
namespace bic::cpu::testing {

enum class Layout { kNT, kNN, kStrided };
constexpr Layout kLayouts[] = {Layout::kNT, Layout::kNN, Layout::kStrided};

/// Operands as [m, k], [n, k] and [n], contiguous.
template <class T>
struct Problem {
  std::int64_t m, n, k;
  std::vector<T> a, w, bias;
  Problem(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed = 1)
      : m(m),
        n(n),
        k(k),
        a(cancelling_rows<T>(m, k, seed)),
        w(random_values<T>(n * k, seed + 1)),
        bias(random_values<T>(n, seed + 2)) {
    for (std::int64_t i = 1; i < n * k; ++i) {
      if (i % k % 2 == 1) w[i] = w[i - 1];  // else what cancels in a would not in a * w
    }
  }
};

/// Element (i, j) of p to out[i * row + j * col].
template <class T>
std::vector<T> place(const std::vector<T>& p,
                     std::int64_t cols,
                     std::int64_t row,
                     std::int64_t col,
                     std::int64_t offset) {
  const std::int64_t rows = cols ? p.size() / cols : 0;
  std::vector<T> out(offset + rows * row + cols * col + 1, narrow<T>(Acc<T>(99)));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) out[offset + i * row + j * col] = p[i * cols + j];
  }
  return out;
}

/// y as [m, n]; operands laid out as asked, `offset` elements from where the allocator puts them.
template <class T>
std::vector<T> run(const Problem<T>& p,
                   Layout layout,
                   const ParallelFor& parallel = serial,
                   std::int64_t offset = 0) {
  const bool strided = layout == Layout::kStrided;
  const std::int64_t w_k = layout == Layout::kNT   ? 1
                           : layout == Layout::kNN ? p.n + offset
                                                   : 3 * p.n;
  const std::int64_t w_n = layout == Layout::kNT ? p.k + offset : strided ? 3 : 1;
  const std::int64_t a_k = strided ? p.m : 1, a_row = strided ? 1 : p.k + offset;
  const auto a = place(p.a, p.k, a_row, a_k, offset), w = place(p.w, p.k, w_n, w_k, offset);
  const std::int64_t y_row = p.n + 5;
  Guarded<T> y(p.m * y_row, offset + 1);
  GemmArgs<T> args{
      a.data() + offset, w.data() + offset, p.bias.empty() ? nullptr : p.bias.data(), y.data()};
  args.m = p.m, args.n = p.n, args.k = p.k;
  args.a_row = a_row, args.a_k = a_k, args.w_k = w_k, args.w_n = w_n, args.y_row = y_row;
  gemm(args, parallel);
  std::vector<T> out;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < y_row; ++j) {
      const T value = y.data()[i * y_row + j];
      if (j < p.n) {
        out.push_back(value);
      } else {
        EXPECT_EQ(bits_of(value), bits_of(y.guard())) << "written beyond the row";
      }
    }
  }
  EXPECT_EQ(bits_of(y.data()[-1]), bits_of(y.guard()));
  EXPECT_EQ(bits_of(y.data()[p.m * y_row]), bits_of(y.guard()));
  return out;
}

/// While it lives, and if `lacks`, the CPU has no VDPBF16PS.
class Bf16Dot {
 public:
  explicit Bf16Dot(bool lacks) { pretend_no_bf16_dot(lacks); }
  ~Bf16Dot() { pretend_no_bf16_dot(false); }
  Bf16Dot(const Bf16Dot&) = delete;
  Bf16Dot& operator=(const Bf16Dot&) = delete;
};

template <class T>
std::vector<T> run_naive(const Problem<T>& p, bool flushes = false) {
  std::vector<T> y;
  for (std::int64_t i = 0; i < p.m; ++i) {
    const std::vector<T> a(p.a.begin() + i * p.k, p.a.begin() + (i + 1) * p.k);
    for (std::int64_t j = 0; j < p.n; ++j) {
      const std::vector<T> w(p.w.begin() + j * p.k, p.w.begin() + (j + 1) * p.k);
      y.push_back(naive::dot(a, w, p.bias.empty() ? nullptr : &p.bias[j], flushes));
    }
  }
  return y;
}

template <class T>
Problem<T> row_of(const Problem<T>& p, std::int64_t i) {
  Problem<T> one = p;
  one.m = 1;
  one.a.assign(p.a.begin() + i * p.k, p.a.begin() + (i + 1) * p.k);
  return one;
}

template <class T>
Problem<T> padded(const Problem<T>& p, std::int64_t k) {
  Problem<T> q = p;
  q.k = k;
  q.a.assign(p.m * k, narrow<T>(0));
  q.w.assign(p.n * k, narrow<T>(0));
  for (std::int64_t i = 0; i < p.m; ++i) std::copy_n(&p.a[i * p.k], p.k, &q.a[i * k]);
  for (std::int64_t j = 0; j < p.n; ++j) std::copy_n(&p.w[j * p.k], p.k, &q.w[j * k]);
  return q;
}

}  // namespace bic::cpu::testing

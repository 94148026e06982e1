#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cpu/kernel_testing.h"

/// The kernels' contracts, written down one scalar after the other: the bits to expect on targets
/// with fused multiply-add. They share no code with the kernels.
namespace bic::cpu::naive {

using testing::Acc;
using testing::narrow;
using testing::widen;

/// l with l + N/2, then l + N/4, ..., 1.
template <class A>
A fold(std::vector<A> lane) {
  for (std::size_t half = lane.size() / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
  }
  return lane[0];
}

template <class A>
A flushed(A x) {
  return std::abs(x) < std::numeric_limits<A>::min() ? std::copysign(A(0), x) : x;
}

/// gemm.h, one output: a and w are the k terms, and subnormals are 0 if `flushes`.
template <class T>
T dot(const std::vector<T>& a, const std::vector<T>& w, const T* bias, bool flushes = false) {
  using A = Acc<T>;
  const bool pairs = std::is_same_v<T, hwy::bfloat16_t>;
  const std::int64_t k = a.size(), lanes = std::is_same_v<T, double> ? 8 : 16;
  std::vector<A> lane(lanes, A(0));
  const auto add = [&](std::int64_t l, std::int64_t i) {
    if (i >= k) return;
    const A x = widen(a[i]), y = widen(w[i]);
    lane[l] =
        flushes ? flushed(std::fma(flushed(x), flushed(y), lane[l])) : std::fma(x, y, lane[l]);
  };
  for (std::int64_t first = 0; first < k; first += pairs ? 2 * lanes : lanes) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      if (pairs) add(l, first + 2 * l + 1);
      add(l, pairs ? first + 2 * l : first + l);
    }
  }
  A y = fold(lane) + A(0);
  if (bias) y += widen(*bias);
  return narrow<T>(y);
}

/// sum.h, before `mean`.
template <class A>
A sum(const std::vector<A>& x) {
  std::vector<A> lane(16, A(0));
  for (std::size_t r = 0; r < x.size(); ++r) lane[r % 16] = lane[r % 16] + x[r];
  return fold(lane);
}

template <class T>
struct LayerNormRow {
  std::vector<T> y;
  T mean, rstd;
};

/// layer_norm.h, one row; weight and bias may be empty.
template <class T>
LayerNormRow<T> layer_norm(const std::vector<T>& x,
                           const std::vector<T>& weight,
                           const std::vector<T>& bias,
                           double eps,
                           bool center = true) {
  using A = Acc<T>;
  std::vector<A> wide;
  for (const T v : x) wide.push_back(widen(v));
  const A h = static_cast<A>(x.size()), mean = center ? sum(wide) / h : A(0);
  std::vector<A> lane(16, A(0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const A d = wide[i] - mean;
    lane[i % 16] = std::fma(d, d, lane[i % 16]);
  }
  const A rstd = A(1) / std::sqrt(fold(lane) / h + static_cast<A>(eps));
  LayerNormRow<T> row{{}, narrow<T>(mean), narrow<T>(rstd)};
  for (std::size_t i = 0; i < x.size(); ++i) {
    A t = (wide[i] - mean) * rstd;
    if (!weight.empty() && !bias.empty()) {
      t = std::fma(t, widen(weight[i]), widen(bias[i]));
    } else if (!weight.empty()) {
      t = t * widen(weight[i]);
    } else if (!bias.empty()) {
      t = t + widen(bias[i]);
    }
    row.y.push_back(narrow<T>(t));
  }
  return row;
}

}  // namespace bic::cpu::naive

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "reference_kernels/cpu/gemm_testing.h"
#include "reference_kernels/cuda/cuda_testing.h"
#include "reference_kernels/cuda/gemm.h"

/// Problems for the tests of gemm, in every layout, and its order written down in scalars.
namespace bic::cuda::testing {

using namespace bic::cpu::testing;  // NOLINT: its vocabulary

/// What cancels does so half of k away, so that the order shows at the ends of chunks too.
template <class T>
Problem<T> far_cancelling(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed = 1) {
  Problem<T> p(0, 0, 0);
  p.m = m, p.n = n, p.k = k;
  p.a = random_values<T>(m * k, seed);
  p.w = random_values<T>(n * k, seed + 1);
  p.bias = random_values<T>(n, seed + 2);
  std::mt19937_64 bits(seed);
  const int large = std::is_same_v<T, double> ? 36 : std::is_same_v<T, hwy::float16_t> ? 8 : 14;
  const auto scaled = [](T x, int e) { return narrow<T>(Acc<T>(std::ldexp(widen(x), e))); };
  const std::int64_t half = k / 2;
  for (std::int64_t e = 0; e < n * half; ++e) {
    p.w[e / half * k + half + e % half] = p.w[e / half * k + e % half];
  }
  for (std::int64_t e = 0; e < m * half; ++e) {
    T &x = p.a[e / half * k + e % half], &partner = p.a[e / half * k + half + e % half];
    const bool cancels = bits() % 2 == 0;
    x = scaled(x, cancels ? large : -6);
    partner = cancels ? narrow<T>(-widen(x)) : scaled(partner, -6);
  }
  return p;
}

/// The bits of a NaN of y.
template <class T>
std::uint64_t product_nan_bits() {
  return sizeof(T) == 2 ? 0x7FFF : canonical_nan_bits<T>();
}

/// y as [m, n]; operands laid out as asked, `offset` elements from an aligned address.
template <class T>
std::vector<T> run_on_device(const Problem<T>& p,
                             Layout layout = Layout::kNT,
                             std::int64_t offset = 0) {
  const bool strided = layout == Layout::kStrided;
  cpu::GemmArgs<T> g;
  g.m = p.m, g.n = p.n, g.k = p.k, g.y_row = p.n + 5;
  g.w_k = layout == Layout::kNT ? 1 : strided ? 3 * p.n : p.n + offset;
  g.w_n = layout == Layout::kNT ? p.k + offset : strided ? 3 : 1;
  g.a_k = strided ? p.m : 1, g.a_row = strided ? 1 : p.k + offset;
  const DeviceArray<T> a(place(p.a, p.k, g.a_row, g.a_k, 0), offset);
  const DeviceArray<T> w(place(p.w, p.k, g.w_n, g.w_k, 0), offset);
  const DeviceArray<T> bias(p.bias, offset);
  const T guard = narrow<T>(Acc<T>(-77));
  const DeviceArray<T> y(std::vector<T>(p.m * g.y_row + 2, guard), offset);
  g.a = a.data(), g.w = w.data(), g.y = y.data() + 1;
  g.bias = p.bias.empty() ? nullptr : bias.data();
  const TestLaunch launch;
  gemm(g, launch.get());
  const auto all = y.values();
  std::vector<T> out;
  for (std::int64_t e = 0; e < static_cast<std::int64_t>(all.size()); ++e) {
    const bool inside = e >= 1 && e <= p.m * g.y_row && (e - 1) % g.y_row < p.n;
    if (inside) {
      out.push_back(all[e]);
    } else {
      EXPECT_EQ(bits_of(all[e]), bits_of(guard)) << "written beyond a row, at " << e;
    }
  }
  return out;
}

/// gemm.h's order for float and double, one element.
template <class T>
T in_stated_order(const Problem<T>& p, std::int64_t i, std::int64_t j) {
  T sum = 0;
  for (std::int64_t first = 0; first < p.k; first += 256) {
    T chunk = 0;
    for (std::int64_t k = first; k < std::min(first + 256, p.k); ++k) {
      chunk = std::fma(p.a[i * p.k + k], p.w[j * p.k + k], chunk);
    }
    sum = sum + chunk;
  }
  return p.bias.empty() ? sum : sum + p.bias[j];
}

/// Rows first, ..., first + count - 1 of p.
template <class T>
Problem<T> rows_of(const Problem<T>& p, std::int64_t first, std::int64_t count) {
  Problem<T> part = p;
  part.m = count;
  part.a.assign(p.a.begin() + first * p.k, p.a.begin() + (first + count) * p.k);
  return part;
}

/// Those rows of y, which is [m, n].
template <class T>
std::vector<T> rows_of(const std::vector<T>& y,
                       std::int64_t n,
                       std::int64_t i,
                       std::int64_t count) {
  return {y.begin() + i * n, y.begin() + (i + count) * n};
}

/// p's rows, `times` times.
template <class T>
Problem<T> repeated(const Problem<T>& p, std::int64_t times) {
  Problem<T> all = p;
  for (std::int64_t t = 1; t < times; ++t) all.a.insert(all.a.end(), p.a.begin(), p.a.end());
  all.m = times * p.m;
  return all;
}

/// `batch` products of p's rows, m / batch each, by one w; y is [m, n].
template <class T>
std::vector<T> run_batches(const Problem<T>& p, std::int64_t batch) {
  const DeviceArray<T> a(p.a), w(p.w), bias(p.bias), y(std::vector<T>(p.m * p.n));
  cpu::GemmArgs<T> g{a.data(), w.data(), bias.data(), y.data()};
  g.batch = batch, g.m = p.m / batch, g.n = p.n, g.k = p.k;
  g.a_row = p.k, g.a_batch = g.m * p.k, g.w_n = p.k, g.y_row = p.n, g.y_batch = g.m * p.n;
  const TestLaunch launch;
  gemm(g, launch.get());
  return y.values();
}

}  // namespace bic::cuda::testing

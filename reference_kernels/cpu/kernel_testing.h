#pragma once

#include <gtest/gtest.h>
#include <hwy/detect_targets.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu::testing {

using Dtypes = ::testing::Types<float, double, hwy::bfloat16_t, hwy::float16_t>;

struct DtypeName {
  template <class T>
  static std::string GetName(int) {
    if (std::is_same_v<T, float>) return "fp32";
    if (std::is_same_v<T, double>) return "fp64";
    return std::is_same_v<T, hwy::bfloat16_t> ? "bf16" : "fp16";
  }
};

template <class T>
using Acc = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Conversions that share no code with the kernels: GCC's _Float16, and integers for bf16.
template <class T>
Acc<T> widen(T x) {
  if constexpr (std::is_same_v<T, hwy::float16_t>) {
    _Float16 h;
    std::memcpy(&h, &x, 2);
    return static_cast<float>(h);
  } else if constexpr (std::is_same_v<T, hwy::bfloat16_t>) {
    const std::uint32_t u = static_cast<std::uint32_t>(x.bits) << 16;
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  } else {
    return x;
  }
}

/// To nearest even; every NaN becomes the canonical one.
template <class T>
T narrow(Acc<T> x) {
  const bool nan = x != x;
  if constexpr (std::is_same_v<T, hwy::float16_t>) {
    const auto h = static_cast<_Float16>(x);
    T y;
    std::memcpy(&y, &h, 2);
    if (nan) y.bits = 0x7E00;
    return y;
  } else if constexpr (std::is_same_v<T, hwy::bfloat16_t>) {
    std::uint32_t u;
    std::memcpy(&u, &x, 4);
    T y;
    y.bits = nan ? 0x7FC0 : static_cast<std::uint16_t>((u + 0x7FFF + (u >> 16 & 1)) >> 16);
    return y;
  } else {
    return nan ? std::numeric_limits<T>::quiet_NaN() : x;
  }
}

/// Half the distance of numbers near |x|, or of the denormals: the error of one rounding to T.
template <class T>
double half_ulp(double x) {
  if (std::is_same_v<T, double>) return std::max(std::abs(x) * 0x1p-53, 0x1p-1074);
  if (std::is_same_v<T, float>) return std::max(std::abs(x) * 0x1p-24, 0x1p-150);
  if (std::is_same_v<T, hwy::bfloat16_t>) return std::max(std::abs(x) * 0x1p-8, 0x1p-134);
  return std::max(std::abs(x) * 0x1p-11, 0x1p-25);
}

/// Normal values times 2^-2 ... 2^2.
template <class T>
std::vector<T> random_values(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> exponent(-2, 2);
  std::vector<T> x(count);
  for (T& v : x) v = narrow<T>(static_cast<Acc<T>>(std::ldexp(normal(bits), exponent(bits))));
  return x;
}

/// [rows, n] of values that show the order of a sum in every dtype: half of the neighbours (2 i, 2
/// i + 1) are (m, -m) with a large m, and what they cancel to is the sum of the small rest, less
/// its lost bits.
template <class T>
std::vector<T> cancelling_rows(std::int64_t rows, std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 bits(seed + 1000);
  std::uniform_int_distribution<int> exponent(-5, 0);
  const int large = std::is_same_v<T, hwy::float16_t> ? 10 : std::is_same_v<T, double> ? 40 : 16;
  auto x = random_values<T>(rows * n, seed);
  for (std::int64_t i = 0; i < rows * n; ++i) {
    x[i] = narrow<T>(static_cast<Acc<T>>(std::ldexp(widen(x[i]), -6)));
  }
  for (std::int64_t i = 0; i < rows * n; ++i) {
    if (i % n % 2 == 1 || i % n + 1 == n || bits() % 2 == 0) continue;
    x[i] = narrow<T>(static_cast<Acc<T>>(std::ldexp(widen(x[i]), 6 + large - 2 + exponent(bits))));
    x[i + 1] = narrow<T>(-widen(x[i]));
  }
  return x;
}

/// Uneven pieces on three threads, the last piece first: nothing may depend on who runs what.
inline void odd_threads(std::int64_t tasks,
                        const std::function<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t a = tasks / 5, b = tasks / 2 + 1;
  std::vector<std::thread> threads;
  if (b < tasks) threads.emplace_back([&] { body(b, tasks); });
  if (a > 0) threads.emplace_back([&] { body(0, a); });
  body(a, std::min(b, tasks));
  for (auto& t : threads) t.join();
}

/// One task at a time, backwards.
inline void one_by_one(std::int64_t tasks,
                       const std::function<void(std::int64_t, std::int64_t)>& body) {
  for (std::int64_t t = tasks; t-- > 0;) body(t, t + 1);
}

/// Counts the tasks of the calls made through it.
struct TaskCounter {
  std::int64_t most = 0;
  ParallelFor parallel() {
    return [this](std::int64_t tasks, const auto& body) {
      most = std::max(most, tasks);
      body(0, tasks);
    };
  }
};

/// Equality of bytes; says where the first difference is.
template <class T>
::testing::AssertionResult same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  if (x.size() != y.size()) return ::testing::AssertionFailure() << x.size() << " != " << y.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::memcmp(&x[i], &y[i], sizeof(T)) == 0) continue;
    return ::testing::AssertionFailure()
           << "[" << i << "] of " << x.size() << ": " << static_cast<double>(widen(x[i])) << " vs "
           << static_cast<double>(widen(y[i]));
  }
  return ::testing::AssertionSuccess();
}

/// The unsigned integer with the bytes of x.
template <class T>
std::uint64_t bits_of(T x) {
  std::uint64_t u = 0;
  std::memcpy(&u, &x, sizeof(T));
  return u;
}

template <class T>
std::uint64_t canonical_nan_bits() {
  return bits_of(narrow<T>(std::numeric_limits<Acc<T>>::quiet_NaN()));
}

/// A NaN with sign and payload, as no kernel may return it.
template <class T>
T strange_nan() {
  const std::uint64_t bits = std::is_same_v<T, double>            ? 0xFFF8000000000123
                             : std::is_same_v<T, float>           ? 0xFFC00123
                             : std::is_same_v<T, hwy::bfloat16_t> ? 0xFFC3
                                                                  : 0xFE03;
  T x;
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}

/// The targets that the kernels are compiled for and that this CPU has, best first.
inline std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> found;
  for (const std::int64_t t :
       {std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}, std::int64_t{HWY_SSSE3}}) {
    if (hwy::SupportedTargets() & t) found.push_back(t);
  }
  return found;
}
/// Whether the target has fused multiply-add.
inline bool fuses(std::int64_t target) { return target <= HWY_AVX2; }

/// Runs the kernels on `target` while it lives.
class OnTarget {
 public:
  explicit OnTarget(std::int64_t target) { choose(target); }
  ~OnTarget() { choose(0); }
  OnTarget(const OnTarget&) = delete;
  OnTarget& operator=(const OnTarget&) = delete;

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

/// values[offset ...] inside a buffer with a guard at both ends; unaligned for odd offsets.
template <class T>
struct Guarded {
  std::vector<T> all;
  std::int64_t offset;
  Guarded(std::int64_t count, std::int64_t offset)
      : all(count + 2 * offset, guard()), offset(offset) {}
  static T guard() { return narrow<T>(Acc<T>(-77)); }
  T* data() { return all.data() + offset; }
};

}  // namespace bic::cpu::testing

#include "reference_kernels/cpu/pointwise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/kernel_testing.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

/// A function, or a power with that exponent.
struct Function {
  const char* name;
  PointwiseFunction function;
  long double (*exact)(long double);
  double ulps;  ///< in double
  double exponent = 0;
};

long double exact_silu(long double x) { return x / (1 + std::exp(-x)); }
long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double exact_rsqrt(long double x) { return 1 / std::sqrt(x); }
template <int Halves>
long double exact_power(long double x) {
  return std::pow(x, Halves / 2.0L);
}

const Function kFunctions[] = {
    {"silu", PointwiseFunction::kSilu, exact_silu, 3},
    {"sigmoid", PointwiseFunction::kSigmoid, exact_sigmoid, 3},
    {"tanh", PointwiseFunction::kTanh, std::tanh, 3},
    {"exp", PointwiseFunction::kExp, std::exp, 1.5},
    {"log", PointwiseFunction::kLog, std::log, 1},
    {"rsqrt", PointwiseFunction::kRsqrt, exact_rsqrt, 1},
    {"sin", PointwiseFunction::kSin, std::sin, 1},
    {"cos", PointwiseFunction::kCos, std::cos, 1},
    {"pow_5_2", {}, exact_power<5>, 1.5, 2.5},
    {"pow_minus_7", {}, exact_power<-14>, 1.5, -7},
    {"square", {}, exact_power<4>, 1, 2},
    {"cube", {}, exact_power<6>, 1, 3},
};

template <class T>
void evaluate(const Function& f, const T* x, T* y, std::int64_t n, const ParallelFor& parallel) {
  if (f.exponent != 0) {
    power(PowerArgs<T>{x, nullptr, f.exponent, y, n}, parallel);
  } else {
    pointwise(PointwiseArgs<T>{x, y, n, f.function}, parallel);
  }
}

template <class T>
std::vector<T> run(const Function& f,
                   const std::vector<T>& x,
                   const ParallelFor& parallel = serial,
                   std::int64_t offset = 0) {
  std::vector<T> in(offset, narrow<T>(Acc<T>(99)));
  in.insert(in.end(), x.begin(), x.end());
  Guarded<T> out(x.size(), offset + 1);
  evaluate(f, in.data() + offset, out.data(), static_cast<std::int64_t>(x.size()), parallel);
  EXPECT_EQ(bits_of(out.data()[-1]), bits_of(out.guard()));
  EXPECT_EQ(bits_of(out.data()[x.size()]), bits_of(out.guard()));
  return std::vector<T>(out.data(), out.data() + x.size());
}

/// All values of a 16-bit type; else a grid, multiples of pi / 2, and numbers at every exponent,
/// both signs.
template <class T>
std::vector<T> sweep(std::int64_t count) {
  std::vector<T> x;
  if constexpr (sizeof(T) == 2) {
    for (int i = 0; i < 65536; ++i) x.push_back(T{static_cast<std::uint16_t>(i)});
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const T place = 2 * static_cast<T>(i) / static_cast<T>(count) - 1;
      for (const T reach : {T(1), T(20), T(sizeof(T) == 8 ? 745 : 104)}) x.push_back(reach * place);
      x.push_back(static_cast<T>(i * std::acos(0.0L)));
      x.push_back(1 + place / 64);
    }
    using Limits = std::numeric_limits<T>;
    for (int e = Limits::min_exponent - 20; e < Limits::max_exponent; ++e) {
      for (const T m : {T(0.5), T(0.6180339887), T(0.99)}) {
        x.push_back(std::ldexp(m, e));
        x.push_back(-std::ldexp(m, e));
      }
    }
  }
  return x;
}

template <class T>
class Pointwise : public ::testing::Test {};
TYPED_TEST_SUITE(Pointwise, Dtypes, DtypeName);

TYPED_TEST(Pointwise, ElementKeepsItsBitsInBodyAndTailOnEveryTarget) {
  const auto x = sweep<TypeParam>(2000);
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const Function& f : kFunctions) {
      const auto whole = run(f, x);
      for (std::size_t i = 0; i < x.size(); i += 7) {
        TypeParam alone;
        evaluate(f, &x[i], &alone, 1, serial);
        ASSERT_EQ(bits_of(alone), bits_of(whole[i]))
            << f.name << ' ' << static_cast<double>(widen(x[i]));
      }
    }
  }
}

TYPED_TEST(Pointwise, ThreadsAlignmentAndLengthChangeNoBit) {
  const auto x = random_values<TypeParam>(70001, 3);
  for (const Function& f : kFunctions) {
    const auto expected = run(f, x);
    EXPECT_TRUE(same_bits(run(f, x, odd_threads, 3), expected));
    EXPECT_TRUE(same_bits(run(f, x, one_by_one, 5), expected));
    for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 15, 17, 33}) {
      const std::vector<TypeParam> some(x.begin(), x.begin() + n),
          y(expected.begin(), expected.begin() + n);
      EXPECT_TRUE(same_bits(run(f, some, serial, n), y));
    }
  }
}

TYPED_TEST(Pointwise, FusingTargetsAgree) {
  const auto x = sweep<TypeParam>(3000);
  for (const Function& f : kFunctions) {
    const auto best = run(f, x);
    for (const std::int64_t target : targets()) {
      if (!fuses(target) || !fuses(targets().front())) continue;
      const OnTarget on(target);
      EXPECT_TRUE(same_bits(run(f, x), best)) << f.name << ' ' << hwy::TargetName(target);
    }
  }
}

TYPED_TEST(Pointwise, ErrorStaysWithinItsBound) {
  using T = TypeParam;
  const auto x = sweep<T>(40000);
  if (!fuses(targets().front())) GTEST_SKIP() << "no fused multiply-add";
  for (const Function& f : kFunctions) {
    const auto y = run(f, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double exact = f.exact(widen(x[i]));
      const double largest = std::numeric_limits<Acc<T>>::max();
      if (!std::isfinite(exact) || std::fabs(exact) > largest) continue;
      const double got = widen(y[i]), ulps = sizeof(T) == 8 ? f.ulps : 1;
      const double bound = 2 * ulps * half_ulp<Acc<T>>(static_cast<double>(exact));
      const double rounding = sizeof(T) == 2 ? half_ulp<T>(static_cast<double>(exact)) * 1.01 : 0;
      if (sizeof(T) == 2 && std::isinf(got)) continue;  // the last half step of the type
      ASSERT_LE(std::abs(static_cast<double>(got - exact)), bound + rounding)
          << f.name << " x = " << static_cast<double>(widen(x[i]));
    }
  }
}

TYPED_TEST(Pointwise, LimitsAreAsInC) {
  using T = TypeParam;
  const Acc<T> inf = std::numeric_limits<Acc<T>>::infinity();
  const std::vector<T> x{narrow<T>(inf),
                         narrow<T>(-inf),
                         narrow<T>(0),
                         narrow<T>(Acc<T>(-0.0)),
                         narrow<T>(-1000),
                         narrow<T>(1000),
                         narrow<T>(-20000),
                         strange_nan<T>()};
  for (const Function& f : kFunctions) {
    const auto y = run(f, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Acc<T> exact = f.exact(widen(x[i]));
      const std::string where = std::string(f.name) + " of " + std::to_string(widen(x[i]));
      if (exact != exact) {
        EXPECT_EQ(bits_of(y[i]), canonical_nan_bits<T>()) << where;
      }
      if (std::isinf(exact) || exact == 0) {
        EXPECT_EQ(bits_of(y[i]), bits_of(narrow<T>(exact))) << where;
      }
    }
  }
}

TYPED_TEST(Pointwise, PowerHasTheSpecialCasesOfC) {
  using T = TypeParam;
  const Acc<T> inf = std::numeric_limits<Acc<T>>::infinity();
  std::vector<T> values{strange_nan<T>()}, x, e;
  for (const Acc<T> v : {-inf, Acc<T>(-3), Acc<T>(-2), Acc<T>(-1), Acc<T>(-0.5), Acc<T>(-0.0)}) {
    values.push_back(narrow<T>(v));
    values.push_back(narrow<T>(-v));
  }
  for (const T& a : values) {
    for (const T& b : values) x.push_back(a), e.push_back(b);
  }
  std::vector<T> y(x.size());
  power(PowerArgs<T>{x.data(), e.data(), 0, y.data(), static_cast<std::int64_t>(x.size())}, serial);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto exact = narrow<T>(static_cast<Acc<T>>(
        std::pow(static_cast<long double>(widen(x[i])), static_cast<long double>(widen(e[i])))));
    const double error = static_cast<double>(widen(y[i])) - static_cast<double>(widen(exact));
    if (bits_of(y[i]) == bits_of(exact)) continue;
    EXPECT_LE(std::abs(error), 2 * half_ulp<T>(static_cast<double>(widen(exact))))
        << widen(x[i]) << " ^ " << widen(e[i]);
  }
}

TYPED_TEST(Pointwise, ScaledSumRoundsOnceInBodyAndTail) {
  using T = TypeParam;
  const auto x = random_values<T>(1003, 4), o = random_values<T>(1003, 5);
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<T> y(x.size()), alone(x.size());
  scaled_sum(ScaledSumArgs<T>{x.data(), o.data(), 0.3, y.data(), n}, serial);
  for (std::size_t i = 0; i < x.size(); ++i) {
    scaled_sum(ScaledSumArgs<T>{&x[i], &o[i], 0.3, &alone[i], 1}, serial);
    if (!fuses(targets().front())) continue;
    const auto exact = std::fma(static_cast<Acc<T>>(0.3), widen(o[i]), widen(x[i]));
    ASSERT_EQ(bits_of(y[i]), bits_of(narrow<T>(exact))) << i;
  }
  EXPECT_TRUE(same_bits(alone, y));
}

TYPED_TEST(Pointwise, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  TaskCounter small, large;
  run(kFunctions[0], random_values<TypeParam>(131071, 1), small.parallel());
  run(kFunctions[0], random_values<TypeParam>(131072, 1), large.parallel());
  EXPECT_EQ(small.most, 0);
  EXPECT_GE(large.most, 16);
}

}  // namespace
}  // namespace bic::cpu

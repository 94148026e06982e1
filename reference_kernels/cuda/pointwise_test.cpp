#include "reference_kernels/cuda/pointwise.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "reference_kernels/cuda/cuda_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;       // NOLINT: the test's own vocabulary
using namespace cpu::testing;  // NOLINT: likewise
using cpu::PointwiseArgs;
using cpu::PointwiseFunction;
using cpu::PowerArgs;
using cpu::ScaledSumArgs;

/// A function, or a power with that exponent.
struct Function {
  const char* name;
  PointwiseFunction function;
  long double (*exact)(long double);
  double ulps;
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
    {"silu", PointwiseFunction::kSilu, exact_silu, 4},
    {"sigmoid", PointwiseFunction::kSigmoid, exact_sigmoid, 4},
    {"tanh", PointwiseFunction::kTanh, std::tanh, 2},
    {"exp", PointwiseFunction::kExp, std::exp, 2},
    {"log", PointwiseFunction::kLog, std::log, 2},
    {"rsqrt", PointwiseFunction::kRsqrt, exact_rsqrt, 1.5},
    {"sin", PointwiseFunction::kSin, std::sin, 2},
    {"cos", PointwiseFunction::kCos, std::cos, 2},
    {"pow_5_2", {}, exact_power<5>, 4, 2.5},
    {"pow_minus_7", {}, exact_power<-14>, 4, -7},
    {"square", {}, exact_power<4>, 1, 2},
    {"cube", {}, exact_power<6>, 1.5, 3},
};

template <class T>
std::vector<T> run(const Function& f, const std::vector<T>& x, std::int64_t offset = 0) {
  const TestLaunch launch;
  const DeviceArray<T> in(x, offset), out(std::vector<T>(x.size()), offset / 2);
  const auto n = static_cast<std::int64_t>(x.size());
  if (f.exponent != 0) {
    power(PowerArgs<T>{in.data(), nullptr, f.exponent, out.data(), n}, launch.get());
  } else {
    pointwise(PointwiseArgs<T>{in.data(), out.data(), n, f.function}, launch.get());
  }
  return out.values();
}

/// All values of a 16-bit type; else a grid, multiples of pi / 2, and numbers at every exponent,
/// both signs.
template <class T>
std::vector<T> sweep() {
  std::vector<T> x;
  if constexpr (sizeof(T) == 2) {
    for (int i = 0; i < 65536; ++i) x.push_back(T{static_cast<std::uint16_t>(i)});
  } else {
    constexpr int kCount = 40000;
    for (int i = 0; i < kCount; ++i) {
      const T place = 2 * static_cast<T>(i) / kCount - 1;
      for (const T reach : {T(1), T(20), T(sizeof(T) == 8 ? 750 : 110)}) x.push_back(reach * place);
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
class CudaPointwise : public OnDeviceTest {};
TYPED_TEST_SUITE(CudaPointwise, Dtypes, DtypeName);

TYPED_TEST(CudaPointwise, ElementKeepsItsBitsInAnyPlace) {
  auto x = sweep<TypeParam>();
  const auto more = random_values<TypeParam>(300'001, 7);  // than are taken one a thread (map.cuh)
  x.insert(x.end(), more.begin(), more.end());
  for (const Function& f : kFunctions) {
    SCOPED_TRACE(f.name);
    auto y = run(f, x);
    for (const std::int64_t offset : {1, 2, 3, 8}) EXPECT_TRUE(same_bits(run(f, x, offset), y));
    std::reverse(x.begin(), x.end());
    std::reverse(y.begin(), y.end());
    EXPECT_TRUE(same_bits(run(f, x), y));
    for (const std::int64_t n : {0, 1, 7, 31, 33, 255, 257, 2047, 2048, 2049, 4097}) {
      const std::vector<TypeParam> some(x.begin(), x.begin() + n), part(y.begin(), y.begin() + n);
      EXPECT_TRUE(same_bits(run(f, some), part)) << n;
    }
  }
}

TYPED_TEST(CudaPointwise, ResultMayTakeThePlaceOfTheArgument) {
  const auto x = random_values<TypeParam>(5003, 3);
  const auto y = run(kFunctions[0], x);
  const TestLaunch launch;
  const DeviceArray<TypeParam> both(x);
  pointwise(PointwiseArgs<TypeParam>{both.data(), both.data(), 5003, kFunctions[0].function},
            launch.get());
  EXPECT_TRUE(same_bits(both.values(), y));
}

TYPED_TEST(CudaPointwise, ErrorStaysWithinItsBound) {
  using T = TypeParam;
  const auto x = sweep<T>();
  for (const Function& f : kFunctions) {
    const auto y = run(f, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double exact = f.exact(widen(x[i]));
      const double largest = std::numeric_limits<Acc<T>>::max();
      if (!std::isfinite(exact) || std::fabs(exact) > largest) continue;
      const double got = widen(y[i]);
      const double bound = 2 * f.ulps * half_ulp<Acc<T>>(static_cast<double>(exact));
      const double rounding = sizeof(T) == 2 ? half_ulp<T>(static_cast<double>(exact)) * 1.01 : 0;
      if (sizeof(T) == 2 && std::isinf(got)) continue;  // the last half step of the type
      ASSERT_LE(std::abs(static_cast<double>(got - exact)), bound + rounding)
          << f.name << " x = " << static_cast<double>(widen(x[i]));
    }
  }
}

TYPED_TEST(CudaPointwise, LimitsAreAsInC) {
  using T = TypeParam;
  const Acc<T> inf = std::numeric_limits<Acc<T>>::infinity();
  std::vector<T> x{strange_nan<T>()};
  for (const Acc<T> v : {inf, -inf, Acc<T>(0), Acc<T>(-0.0), Acc<T>(-1000), Acc<T>(1000)}) {
    x.push_back(narrow<T>(v));
  }
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

TYPED_TEST(CudaPointwise, PowerHasTheSpecialCasesOfC) {
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
  const auto n = static_cast<std::int64_t>(x.size());
  const TestLaunch launch;
  const DeviceArray<T> bases(x), exponents(e), out(x);
  power(PowerArgs<T>{bases.data(), exponents.data(), 0, out.data(), n}, launch.get());
  const auto y = out.values();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto exact = narrow<T>(static_cast<Acc<T>>(
        std::pow(static_cast<long double>(widen(x[i])), static_cast<long double>(widen(e[i])))));
    if (bits_of(y[i]) == bits_of(exact)) continue;
    const double error = static_cast<double>(widen(y[i])) - static_cast<double>(widen(exact));
    EXPECT_LE(std::abs(error), 8 * half_ulp<T>(static_cast<double>(widen(exact))))
        << widen(x[i]) << " ^ " << widen(e[i]);
  }
}

TYPED_TEST(CudaPointwise, ScaledSumHasTheBitsOfTheCpusKernel) {
  using T = TypeParam;
  if (!fuses(targets().front())) GTEST_SKIP() << "no fused multiply-add";
  const auto x = random_values<T>(70001, 4), o = random_values<T>(70001, 5);
  std::vector<T> expected(x.size());
  cpu::scaled_sum(ScaledSumArgs<T>{x.data(), o.data(), 0.3, expected.data(), 70001}, cpu::serial);
  for (const std::int64_t offset : {0, 1}) {
    const TestLaunch launch;
    const DeviceArray<T> in(x), others(o, offset), out(x);
    scaled_sum(ScaledSumArgs<T>{in.data(), others.data(), 0.3, out.data(), 70001}, launch.get());
    EXPECT_TRUE(same_bits(out.values(), expected));
  }
}

}  // namespace
}  // namespace bic::cuda

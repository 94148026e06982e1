#include "reference_kernels/cpu/gelu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/kernel_testing.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

constexpr GeluForm kForms[] = {GeluForm::kErf, GeluForm::kTanh};

template <class T>
std::vector<T> run(const std::vector<T>& x,
                   GeluForm form,
                   const ParallelFor& parallel = serial,
                   std::int64_t offset = 0) {
  std::vector<T> in(offset, narrow<T>(Acc<T>(99)));
  in.insert(in.end(), x.begin(), x.end());
  Guarded<T> out(x.size(), offset + 1);
  gelu(in.data() + offset, out.data(), static_cast<std::int64_t>(x.size()), form, parallel);
  EXPECT_EQ(bits_of(out.data()[-1]), bits_of(out.guard()));
  EXPECT_EQ(bits_of(out.data()[x.size()]), bits_of(out.guard()));
  return std::vector<T>(out.data(), out.data() + x.size());
}

/// libm in long double, in forms without cancellation.
long double exact_gelu(long double x, GeluForm form) {
  if (form == GeluForm::kErf) return x / 2 * std::erfc(-x / std::sqrt(2.0L));
  const long double u = 2 * std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
  return x / (1 + std::exp(-u));
}

/// All values of a 16-bit type; else `count` from a grid, both signs, and numbers at every
/// exponent.
template <class T>
std::vector<T> sweep(std::int64_t count) {
  std::vector<T> x;
  if constexpr (sizeof(T) == 2) {
    for (int i = 0; i < 65536; ++i) x.push_back(T{static_cast<std::uint16_t>(i)});
  } else {
    const T reach = sizeof(T) == 8 ? 42 : 18;
    for (std::int64_t i = 0; i < count; ++i)
      x.push_back(reach * (2 * static_cast<T>(i) / count - 1));
    for (int e = std::numeric_limits<T>::min_exponent - 20;
         e < std::numeric_limits<T>::max_exponent;
         ++e) {
      for (const T m : {T(0.5), T(0.6180339887), T(0.99)}) {
        x.push_back(std::ldexp(m, e));
        x.push_back(-std::ldexp(m, e));
      }
    }
  }
  return x;
}

template <class T>
class Gelu : public ::testing::Test {};
TYPED_TEST_SUITE(Gelu, Dtypes, DtypeName);

TYPED_TEST(Gelu, ElementKeepsItsBitsInBodyAndTailOnEveryTarget) {
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const GeluForm form : kForms) {
      const auto x = sweep<TypeParam>(20000);
      const auto whole = run(x, form);
      for (std::size_t i = 0; i < x.size(); i += sizeof(TypeParam) == 2 ? 1 : 7) {
        TypeParam alone;
        gelu(&x[i], &alone, 1, form, serial);
        ASSERT_EQ(bits_of(alone), bits_of(whole[i])) << static_cast<double>(widen(x[i]));
      }
    }
  }
}

TYPED_TEST(Gelu, ThreadsAlignmentAndLengthChangeNoBit) {
  for (const GeluForm form : kForms) {
    const auto x = random_values<TypeParam>(70001, 3);
    const auto expected = run(x, form);
    EXPECT_TRUE(same_bits(run(x, form, odd_threads, 3), expected));
    EXPECT_TRUE(same_bits(run(x, form, one_by_one, 5), expected));
    for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 15, 17, 33}) {
      const std::vector<TypeParam> some(x.begin(), x.begin() + n),
          y(expected.begin(), expected.begin() + n);
      EXPECT_TRUE(same_bits(run(some, form, serial, n), y));
    }
  }
}

TYPED_TEST(Gelu, FusingTargetsAgree) {
  const auto x = sweep<TypeParam>(30000);
  for (const GeluForm form : kForms) {
    const auto best = run(x, form);
    for (const std::int64_t target : targets()) {
      if (!fuses(target) || !fuses(targets().front())) continue;
      const OnTarget on(target);
      EXPECT_TRUE(same_bits(run(x, form), best)) << hwy::TargetName(target);
    }
  }
}

TYPED_TEST(Gelu, ErrorStaysWithinItsBoundOnEveryTarget) {
  using T = TypeParam;
  const auto x = sweep<T>(300000);
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const GeluForm form : kForms) {
      const auto y = run(x, form);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const long double wide = widen(x[i]), exact = exact_gelu(wide, form);
        if (!std::isfinite(wide)) continue;
        // Without fused multiply-add the rounding of the exponent is an error of the result.
        const double exponent = form == GeluForm::kErf
                                    ? wide * wide / 2
                                    : 1.6 * std::abs(wide * (1 + wide * wide * 0.0448));
        const double ulps =
            (form == GeluForm::kErf ? 6 : 4) + (fuses(target) ? 0 : 2 * std::min(exponent, 800.0));
        const double got = widen(y[i]),
                     bound = 2 * ulps * half_ulp<Acc<T>>(static_cast<double>(exact));
        const double rounding = sizeof(T) == 2 ? half_ulp<T>(got) * 1.01 : 0;
        ASSERT_LE(std::abs(static_cast<double>(got - exact)), bound + rounding)
            << hwy::TargetName(target) << " x = " << static_cast<double>(wide);
      }
    }
  }
}

TYPED_TEST(Gelu, SpecialValuesAreAsStated) {
  using T = TypeParam;
  const Acc<T> inf = std::numeric_limits<Acc<T>>::infinity();
  const std::vector<T> x{strange_nan<T>(),
                         narrow<T>(-inf),
                         narrow<T>(inf),
                         narrow<T>(0),
                         narrow<T>(Acc<T>(-0.0)),
                         narrow<T>(-1000),
                         narrow<T>(1000),
                         narrow<T>(-50)};
  for (const GeluForm form : kForms) {
    const auto y = run(x, form);
    EXPECT_EQ(bits_of(y[0]), canonical_nan_bits<T>());
    EXPECT_EQ(bits_of(y[1]), canonical_nan_bits<T>());
    for (const int i : {2, 3, 4, 6}) EXPECT_EQ(bits_of(y[i]), bits_of(x[i])) << i;
    for (const int i : {5, 7}) EXPECT_EQ(bits_of(y[i]), bits_of(x[4])) << "-0 beyond the underflow";
  }
}

TYPED_TEST(Gelu, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  TaskCounter small, large;
  run(random_values<TypeParam>(131071, 1), GeluForm::kErf, small.parallel());
  run(random_values<TypeParam>(131072, 1), GeluForm::kErf, large.parallel());
  EXPECT_EQ(small.most, 0);
  EXPECT_GE(large.most, 16);
}

}  // namespace
}  // namespace bic::cpu

#include "reference_kernels/cpu/kernel_testing.h"

#include <gtest/gtest.h>

#include <atomic>

namespace bic::cpu::testing {
namespace {

template <class T>
class KernelTesting : public ::testing::Test {};
TYPED_TEST_SUITE(KernelTesting, Dtypes, DtypeName);

TYPED_TEST(KernelTesting, SameBitsTellsApartWhatComparesEqual) {
  using T = TypeParam;
  const T zero = narrow<T>(0), minus_zero = narrow<T>(Acc<T>(-0.0));
  const T nan = narrow<T>(std::numeric_limits<Acc<T>>::quiet_NaN());
  EXPECT_TRUE(same_bits<T>({zero, nan}, {zero, nan}));
  EXPECT_FALSE(same_bits<T>({zero, zero}, {zero, minus_zero}));
  EXPECT_FALSE(same_bits<T>({nan}, {strange_nan<T>()}));
  EXPECT_FALSE(same_bits<T>({zero}, {zero, zero}));
}

TYPED_TEST(KernelTesting, NarrowRoundsToNearestEvenAndWidenUndoesIt) {
  using T = TypeParam;
  const Acc<T> one_ulp = std::ldexp(Acc<T>(1),
                                    std::is_same_v<T, double>            ? -52
                                    : std::is_same_v<T, float>           ? -23
                                    : std::is_same_v<T, hwy::bfloat16_t> ? -7
                                                                         : -10);
  EXPECT_EQ(widen(narrow<T>(1 + one_ulp)), 1 + one_ulp);
  if (sizeof(T) > 2) return;
  EXPECT_EQ(widen(narrow<T>(1 + one_ulp / 2)), 1);
  EXPECT_EQ(widen(narrow<T>(1 + 3 * one_ulp / 2)), 1 + 2 * one_ulp);
  EXPECT_EQ(widen(narrow<T>(1 + one_ulp / 2 + one_ulp / 64)), 1 + one_ulp);
}

TEST(FakeThreads, RunEveryTaskOnce) {
  for (const std::int64_t tasks : {1, 2, 3, 7, 100}) {
    for (const ParallelFor& parallel :
         {ParallelFor(odd_threads), ParallelFor(one_by_one), ParallelFor(serial)}) {
      std::vector<std::atomic<int>> runs(tasks);
      parallel(tasks, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t t = begin; t < end; ++t) ++runs[t];
      });
      for (const auto& r : runs) EXPECT_EQ(r.load(), 1);
    }
  }
}

TEST(OnTarget, ThereIsATargetAndTheBaselineIsOne) {
  ASSERT_FALSE(targets().empty());
  EXPECT_EQ(targets().back(), std::int64_t{HWY_SSSE3});
}

}  // namespace
}  // namespace bic::cpu::testing

#include "reference_kernels/cuda/gelu.h"

#include <algorithm>

#include "reference_kernels/cuda/cuda_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;       // NOLINT: the test's own vocabulary
using namespace cpu::testing;  // NOLINT: likewise
using cpu::GeluArgs;
using cpu::GeluForm;

constexpr GeluForm kForms[] = {GeluForm::kErf, GeluForm::kTanh};

template <class T>
std::vector<T> run(const std::vector<T>& x, GeluForm form, std::int64_t offset = 0) {
  const TestLaunch launch;
  const DeviceArray<T> in(x, offset), out(std::vector<T>(x.size()), offset / 2);
  gelu(GeluArgs<T>{in.data(), out.data(), static_cast<std::int64_t>(x.size()), form}, launch.get());
  return out.values();
}

template <class T>
std::vector<T> run_on_cpu(const std::vector<T>& x, GeluForm form) {
  std::vector<T> y(x.size());
  cpu::gelu(GeluArgs<T>{x.data(), y.data(), static_cast<std::int64_t>(x.size()), form},
            cpu::serial);
  return y;
}

/// All values of a 16-bit type; else a grid, both signs, numbers at every exponent, and limits.
template <class T>
std::vector<T> sweep() {
  std::vector<T> x;
  if constexpr (sizeof(T) == 2) {
    for (int i = 0; i < 65536; ++i) x.push_back(T{static_cast<std::uint16_t>(i)});
  } else {
    using Limits = std::numeric_limits<T>;
    constexpr int kCount = 300000;
    for (int i = 0; i < kCount; ++i) {
      x.push_back((sizeof(T) == 8 ? 42 : 18) * (2 * static_cast<T>(i) / kCount - 1));
    }
    for (int e = Limits::min_exponent - 20; e <= Limits::max_exponent; ++e) {
      for (const T m : {T(0.5), T(0.6180339887), T(0.99)}) {
        x.push_back(std::ldexp(m, e));
        x.push_back(-std::ldexp(m, e));
      }
    }
    for (const T v : {T(0), Limits::infinity(), strange_nan<T>()}) {
      x.push_back(v);
      x.push_back(-v);
    }
  }
  return x;
}

template <class T>
class CudaGelu : public OnDeviceTest {};
TYPED_TEST_SUITE(CudaGelu, Dtypes, DtypeName);

TYPED_TEST(CudaGelu, HasTheBitsOfTheCpusKernel) {
  if (!fuses(targets().front())) GTEST_SKIP() << "no fused multiply-add";
  const auto x = sweep<TypeParam>();
  for (const GeluForm form : kForms) EXPECT_TRUE(same_bits(run(x, form), run_on_cpu(x, form)));
}

TYPED_TEST(CudaGelu, ElementKeepsItsBitsInAnyPlace) {
  auto x = sweep<TypeParam>();
  for (const GeluForm form : kForms) {
    auto y = run(x, form);
    for (const std::int64_t offset : {1, 2, 3, 8}) {
      EXPECT_TRUE(same_bits(run(x, form, offset), y)) << offset;
    }
    std::reverse(x.begin(), x.end());
    std::reverse(y.begin(), y.end());
    EXPECT_TRUE(same_bits(run(x, form), y));
  }
}

TYPED_TEST(CudaGelu, LengthAndPlaceOfTheResultChangeNoBit) {
  constexpr int kMany = 300'001;  // more than are taken one a thread (map.cuh)
  const auto x = random_values<TypeParam>(kMany, 3);
  for (const GeluForm form : kForms) {
    const auto expected = run(x, form);
    for (const std::int64_t n : {0, 1, 7, 31, 33, 255, 257, 2047, 2048, 2049, 4097}) {
      const std::vector<TypeParam> some(x.begin(), x.begin() + n),
          y(expected.begin(), expected.begin() + n);
      EXPECT_TRUE(same_bits(run(some, form), y)) << n;
    }
    const TestLaunch launch;
    const DeviceArray<TypeParam> both(x);
    gelu(GeluArgs<TypeParam>{both.data(), both.data(), kMany, form}, launch.get());
    EXPECT_TRUE(same_bits(both.values(), expected));
  }
}

}  // namespace
}  // namespace bic::cuda

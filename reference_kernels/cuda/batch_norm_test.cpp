#include "reference_kernels/cuda/batch_norm.h"

#include "reference_kernels/cuda/cuda_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;       // NOLINT: the test's own vocabulary
using namespace cpu::testing;  // NOLINT: likewise
using cpu::BatchNormArgs;

/// x is [outer, channels, inner].
template <class T>
struct Problem {
  std::int64_t outer, channels, inner;
  std::vector<T> x = random_values<T>(outer * channels * inner, 1);
  std::vector<T> mean = random_values<T>(channels, 2);
  std::vector<T> variance = random_values<T>(channels, 3);
  std::vector<T> weight = random_values<T>(channels, 4);
  std::vector<T> bias = random_values<T>(channels, 5);
  Problem(std::int64_t o, std::int64_t c, std::int64_t i) : outer(o), channels(c), inner(i) {
    for (T& v : variance) v = narrow<T>(std::abs(widen(v)));
  }
  BatchNormArgs<T> shape() const {
    BatchNormArgs<T> g;
    g.outer = outer, g.channels = channels, g.inner = inner;
    return g;
  }
};

template <class T>
std::vector<T> run(const Problem<T>& p, std::int64_t offset = 0) {
  const TestLaunch launch;
  const DeviceArray<T> x(p.x, offset), y(std::vector<T>(p.x.size()), offset / 2), mean(p.mean),
      variance(p.variance), weight(p.weight), bias(p.bias);
  BatchNormArgs<T> g = p.shape();
  g.x = x.data(), g.y = y.data(), g.mean = mean.data(), g.variance = variance.data();
  g.weight = p.weight.empty() ? nullptr : weight.data();
  g.bias = p.bias.empty() ? nullptr : bias.data();
  batch_norm(g, launch.get());
  return y.values();
}

template <class T>
std::vector<T> run_on_cpu(const Problem<T>& p) {
  std::vector<T> y(p.x.size());
  BatchNormArgs<T> g = p.shape();
  g.x = p.x.data(), g.y = y.data(), g.mean = p.mean.data(), g.variance = p.variance.data();
  g.weight = p.weight.empty() ? nullptr : p.weight.data();
  g.bias = p.bias.empty() ? nullptr : p.bias.data();
  cpu::batch_norm(g, cpu::serial);
  return y;
}

template <class T>
class CudaBatchNorm : public OnDeviceTest {};
TYPED_TEST_SUITE(CudaBatchNorm, Dtypes, DtypeName);

TYPED_TEST(CudaBatchNorm, HasTheBitsOfTheCpusKernelInAnyShape) {
  if (!fuses(targets().front())) GTEST_SKIP() << "no fused multiply-add";
  for (const std::int64_t inner : {1, 2, 7, 31, 64, 1000, 4097}) {
    for (const std::int64_t channels : {0, 1, 5, 67, 256}) {
      Problem<TypeParam> p(3, channels, inner);
      EXPECT_TRUE(same_bits(run(p), run_on_cpu(p))) << channels << ' ' << inner;
      p.weight.clear();
      EXPECT_TRUE(same_bits(run(p), run_on_cpu(p))) << channels << ' ' << inner;
      p.bias.clear();
      EXPECT_TRUE(same_bits(run(p), run_on_cpu(p))) << channels << ' ' << inner;
    }
  }
}

TYPED_TEST(CudaBatchNorm, KeepsItsBitsInChannelsLastOrder) {
  const std::int64_t channels = 21, inner = 999;
  const Problem<TypeParam> p(1, channels, inner);
  Problem<TypeParam> last = p;
  last.outer = inner, last.inner = 1;
  for (std::int64_t i = 0; i < channels * inner; ++i) {
    last.x[i] = p.x[i % channels * inner + i / channels];
  }
  const auto y = run(p), turned = run(last);
  for (std::int64_t i = 0; i < channels * inner; ++i) {
    ASSERT_EQ(bits_of(turned[i]), bits_of(y[i % channels * inner + i / channels])) << i;
  }
}

TYPED_TEST(CudaBatchNorm, SampleKeepsItsBitsInAnyBatchAndAtAnyAddress) {
  for (const std::int64_t inner : {1, 99}) {
    const Problem<TypeParam> p(31, 40, inner);
    const auto y = run(p);
    for (const std::int64_t offset : {1, 3, 8}) EXPECT_TRUE(same_bits(run(p, offset), y));
    const std::int64_t sample = 40 * inner;
    for (const std::int64_t o : {0, 7, 30}) {
      Problem<TypeParam> one = p;
      one.outer = 1;
      one.x.assign(&p.x[o * sample], &p.x[o * sample] + sample);
      const std::vector<TypeParam> expected(&y[o * sample], &y[o * sample] + sample);
      EXPECT_TRUE(same_bits(run(one), expected)) << o;
    }
  }
}

TYPED_TEST(CudaBatchNorm, NanIsCanonical) {
  Problem<TypeParam> p(2, 3, 5);
  p.x[7] = strange_nan<TypeParam>();
  p.variance[2] = narrow<TypeParam>(-1);
  const auto y = run(p);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool bad = i == 7 || i / 5 % 3 == 2;
    EXPECT_EQ(bits_of(y[i]) == canonical_nan_bits<TypeParam>(), bad) << i;
  }
}

}  // namespace
}  // namespace bic::cuda

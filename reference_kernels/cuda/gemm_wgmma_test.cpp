#include "reference_kernels/cuda/gemm_wgmma.h"

#include <functional>
#include <limits>

#include "reference_kernels/cuda/gemm_paths.h"
#include "reference_kernels/cuda/gemm_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

using NarrowDtypes = ::testing::Types<hwy::bfloat16_t, hwy::float16_t>;
constexpr Layout kServed[] = {Layout::kNT, Layout::kNN};
constexpr WgmmaShape kShapes[] = {WgmmaShape::kByExtents,
                                  WgmmaShape::kWide,
                                  WgmmaShape::kWidePair,
                                  WgmmaShape::kNarrow,
                                  WgmmaShape::kNarrowPair,
                                  WgmmaShape::kSpread};

template <class T>
class CudaGemmWgmma : public OnDeviceTest {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (IsSkipped()) return;
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major != 9) GTEST_SKIP() << "no Hopper";
  }
};
TYPED_TEST_SUITE(CudaGemmWgmma, NarrowDtypes, DtypeName);

/// A problem's operands on the device.
template <class T>
class Operands {
 public:
  Operands(const Problem<T>& p, Layout layout)
      : nt_(layout == Layout::kNT),
        k_(p.k),
        width_(nt_ ? p.k : p.n),
        a_(p.a),
        w_(nt_ ? p.w : place(p.w, p.k, 1, p.n, 0)),
        bias_(p.bias) {}

  /// The product of the first m rows and n columns; y and its stride are missing.
  cpu::GemmArgs<T> product(std::int64_t m, std::int64_t n) const {
    cpu::GemmArgs<T> g{a_.data(), w_.data(), bias_.data(), nullptr};
    g.m = m, g.n = n, g.k = k_, g.a_row = k_;
    (nt_ ? g.w_n : g.w_k) = width_, (nt_ ? g.w_k : g.w_n) = 1;
    return g;
  }

 private:
  bool nt_;
  std::int64_t k_, width_;
  DeviceArray<T> a_, w_, bias_;
};

/// All bytes of y, those between and behind rows too; empty if the product was not served.
template <class T>
std::vector<T> y_of(cpu::GemmArgs<T> g,
                    const std::function<bool(const cpu::GemmArgs<T>&, const Launch&)>& multiply) {
  const DeviceArray<T> y(std::vector<T>((g.m + 1) * g.y_row, narrow<T>(Acc<T>(-77))));
  g.y = y.data();
  const TestLaunch launch;
  if (!multiply(g, launch.get())) return {};
  return y.values();
}

template <class T>
std::vector<T> y_of_mma(const cpu::GemmArgs<T>& g) {
  return y_of<T>(g, [](const auto& product, const Launch& launch) {
    gemm_mma(product, launch);
    return true;
  });
}

template <class T>
std::vector<T> y_of_wgmma(const cpu::GemmArgs<T>& g, WgmmaShape shape) {
  return y_of<T>(g, [&](const auto& product, const Launch& launch) {
    return gemm_wgmma(product, launch, shape);
  });
}

template <class T>
void expect_bits_of_mma(const cpu::GemmArgs<T>& g) {
  const auto expected = y_of_mma(g);
  for (const WgmmaShape shape : kShapes) {
    EXPECT_TRUE(same_bits(y_of_wgmma(g, shape), expected))
        << g.m << " x " << g.n << ", k " << g.k << ", shape " << static_cast<int>(shape)
        << (g.w_k == 1 ? " NT" : " NN");
  }
}

TYPED_TEST(CudaGemmWgmma, EveryShapeHasTheBitsOfMma) {
  for (const std::int64_t k : {64, 2048, 2056, 4304}) {
    const auto p = far_cancelling<TypeParam>(1000, 1160, k, k);
    for (const Layout layout : kServed) {
      const Operands<TypeParam> operands(p, layout);
      for (const std::int64_t m : {128, 129, 200, 1000}) {
        for (const std::int64_t n : {192, 1152, 1160}) {
          auto g = operands.product(m, n);
          g.y_row = n + (m == 200 ? 5 : 4);  // four neighbours at once or not
          expect_bits_of_mma(g);
        }
      }
    }
  }
}

TYPED_TEST(CudaGemmWgmma, TailsOfNAndMHaveThem) {
  const auto p = far_cancelling<TypeParam>(300, 400, 2312, 3);
  for (const Layout layout : kServed) {
    const Operands<TypeParam> operands(p, layout);
    for (const std::int64_t m : {65, 255, 257}) {
      for (const std::int64_t n : {64, 65, 127, 193, 386}) {
        auto g = operands.product(m, n);
        g.y_row = 400;
        expect_bits_of_mma(g);
      }
    }
  }
}

TYPED_TEST(CudaGemmWgmma, MoreTilesThanMultiprocessorsHaveThem) {
  const auto p = repeated(far_cancelling<TypeParam>(1000, 1160, 2056, 5), 9);
  for (const Layout layout : kServed) {
    const Operands<TypeParam> operands(p, layout);
    auto g = operands.product(p.m, p.n);
    g.y_row = p.n;
    expect_bits_of_mma(g);
  }
}

TYPED_TEST(CudaGemmWgmma, EightChunksAreACluster) {
  for (const std::int64_t k : {16384, 16392}) {
    const auto p = far_cancelling<TypeParam>(129, 192, k, 7);
    const Operands<TypeParam> operands(p, Layout::kNT);
    auto g = operands.product(p.m, p.n);
    g.y_row = p.n;
    const auto expected = y_of_mma(g);
    EXPECT_TRUE(same_bits(y_of_wgmma(g, WgmmaShape::kWidePair), expected)) << k;
    EXPECT_TRUE(same_bits(y_of_wgmma(g, WgmmaShape::kByExtents), expected)) << k;
    const auto spread = y_of_wgmma(g, WgmmaShape::kSpread);
    EXPECT_TRUE(k > 16384 ? spread.empty() : same_bits(spread, expected)) << k;
  }
}

TYPED_TEST(CudaGemmWgmma, OrderShowsInTheseValues) {
  // Else the tests here could not tell one order from another.
  const auto p = far_cancelling<TypeParam>(200, 192, 4304, 4304);
  const Operands<TypeParam> operands(p, Layout::kNT);
  auto g = operands.product(p.m, p.n);
  g.y_row = p.n;
  const auto expected = y_of_mma(g);
  g.a += g.k - 1, g.a_k = -1, g.w += g.k - 1, g.w_k = -1;  // the same products, k descending
  EXPECT_FALSE(same_bits(y_of_mma(g), expected));
}

TYPED_TEST(CudaGemmWgmma, ScaledSumsAndAnyBiasHaveThem) {
  using T = TypeParam;
  const auto p = far_cancelling<T>(200, 200, 2064, 9);
  const DeviceArray<T> addend(random_values<T>(200 * 200 + 1, 10));
  for (const Layout layout : kServed) {
    const Operands<T> operands(p, layout);
    auto g = operands.product(p.m, p.n);
    g.y_row = p.n;
    for (const double alpha : {1.0, -0.75}) {
      g.alpha = alpha, g.beta = alpha == 1 ? 1 : -1.5;
      g.bias = nullptr;
      expect_bits_of_mma(g);
      g.bias = addend.data(), g.bias_row = 0, g.bias_n = 1;
      expect_bits_of_mma(g);
      g.bias = addend.data() + 1;
      expect_bits_of_mma(g);
      g.bias_row = p.n;
      expect_bits_of_mma(g);
      g.bias_row = 1, g.bias_n = 0;
      expect_bits_of_mma(g);
    }
  }
}

TYPED_TEST(CudaGemmWgmma, YMayBeItsOwnBias) {
  using T = TypeParam;
  const auto p = far_cancelling<T>(200, 200, 2064, 11);
  const auto addend = random_values<T>(p.m * p.n, 12);
  const Operands<T> operands(p, Layout::kNT);
  auto g = operands.product(p.m, p.n);
  g.y_row = g.bias_row = p.n;
  const DeviceArray<T> apart(addend);
  g.bias = apart.data();
  auto expected = y_of_mma(g);
  expected.resize(p.m * p.n);
  for (const WgmmaShape shape : kShapes) {
    const DeviceArray<T> y(addend);
    g.bias = g.y = y.data();
    const TestLaunch launch;
    EXPECT_TRUE(gemm_wgmma(g, launch.get(), shape));
    EXPECT_TRUE(same_bits(y.values(), expected)) << static_cast<int>(shape);
  }
}

TYPED_TEST(CudaGemmWgmma, NansInfinitiesAndUnderflowsHaveThem) {
  using T = TypeParam;
  auto p = far_cancelling<T>(140, 200, 2064, 13);
  const Acc<T> tiny = std::numeric_limits<Acc<T>>::min();
  p.a[1 * p.k + 2063] = strange_nan<T>();
  p.a[2 * p.k + 3] = narrow<T>(std::numeric_limits<Acc<T>>::infinity());
  for (std::int64_t k = 0; k < p.k; ++k) {  // all products of row 3 by columns 4 and 5 are -0
    p.a[3 * p.k + k] = narrow<T>(tiny);
    p.w[4 * p.k + k] = p.w[5 * p.k + k] = narrow<T>(-tiny);
  }
  for (const Layout layout : kServed) {
    const Operands<T> operands(p, layout);
    auto g = operands.product(p.m, p.n);
    g.y_row = p.n, g.bias = nullptr;
    expect_bits_of_mma(g);
  }
}

TYPED_TEST(CudaGemmWgmma, OtherProductsAreDeclined) {
  using T = TypeParam;
  const auto p = far_cancelling<T>(256, 256, 256, 15);
  const Operands<T> operands(p, Layout::kNT);
  const auto declines = [&](const std::function<void(cpu::GemmArgs<T>&)>& change) {
    auto g = operands.product(128, 128);
    g.y_row = 128;
    change(g);
    return y_of_wgmma(g, WgmmaShape::kByExtents).empty();
  };
  EXPECT_FALSE(declines([](auto&) {}));
  EXPECT_TRUE(declines([](auto& g) { g.a += 1; }));
  EXPECT_TRUE(declines([](auto& g) { g.w += 4; }));
  EXPECT_TRUE(declines([](auto& g) { g.a_row = 260; }));
  EXPECT_TRUE(declines([](auto& g) { g.a_row = 0; }));
  EXPECT_TRUE(declines([](auto& g) { g.a_k = 2, g.k = 128; }));
  EXPECT_TRUE(declines([](auto& g) { g.w_k = 2, g.k = 128; }));
  EXPECT_TRUE(declines([](auto& g) { g.batch = 2; }));
  EXPECT_TRUE(declines([](auto& g) { g.m = 64; }));
  EXPECT_TRUE(declines([](auto& g) { g.n = 63; }));
  EXPECT_TRUE(declines([](auto& g) { g.k = 0; }));
}

}  // namespace
}  // namespace bic::cuda

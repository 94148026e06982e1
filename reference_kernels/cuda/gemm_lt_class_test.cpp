// What makes an algorithm one of the class, and what does not.
#include "reference_kernels/cuda/gemm_lt_class.h"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference_kernels/cuda/gemm.h"
#include "reference_kernels/cuda/gemm_lt_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

template <class T>
constexpr cudaDataType_t kType = std::is_same_v<T, hwy::bfloat16_t> ? CUDA_R_16BF : CUDA_R_16F;

/// fp32 sum of the sample's terms [first, last) of output o.
template <class T>
float sum_of(const LtSampleValues& v, std::int64_t o, std::int64_t first, std::int64_t last) {
  const std::int64_t length = v.k + LtSampleValues::kZeros;
  const auto value = [](std::uint16_t code) {
    T x;
    std::memcpy(&x, &code, sizeof x);
    return static_cast<float>(widen(x));
  };
  float sum = 0;
  for (std::int64_t i = first; i < last; ++i) {
    sum += value(v.a[o / v.n * length + i]) * value(v.nt[o % v.n * length + i]);
  }
  return sum;
}

template <class T>
class LtSampleOf : public ::testing::Test {};
using Narrow = ::testing::Types<hwy::bfloat16_t, hwy::float16_t>;
TYPED_TEST_SUITE(LtSampleOf, Narrow, cpu::testing::DtypeName);

TYPED_TEST(LtSampleOf, ShowsWhetherKIsSplit) {
  const LtSampleValues v(kType<TypeParam>, LtSampleValues::kDistinct, 144, 1976);
  int sums = 0, results = 0;
  const std::int64_t outputs = 6 * v.n;  // rows without special values
  for (std::int64_t o = 0; o < outputs; ++o) {
    const float whole = sum_of<TypeParam>(v, o, 0, v.k);
    const float halves =
        sum_of<TypeParam>(v, o, 0, v.k / 2) + sum_of<TypeParam>(v, o, v.k / 2, v.k);
    sums += whole != halves;
    results += bits_of(cpu::testing::narrow<TypeParam>(whole)) !=
               bits_of(cpu::testing::narrow<TypeParam>(halves));
  }
  EXPECT_GE(sums, outputs / 2);
  EXPECT_GE(results, 20);
}

TYPED_TEST(LtSampleOf, HasTheSameWeightsInBothLayouts) {
  const LtSampleValues v(kType<TypeParam>, 264, 40, 72);
  const std::int64_t length = v.k + LtSampleValues::kZeros;
  ASSERT_EQ(v.nt.size(), v.nn.size());
  for (std::int64_t i = 0; i < v.n * length; ++i) {
    ASSERT_EQ(v.nt[i], v.nn[i % length * v.n + i / length]) << i;
  }
  for (std::int64_t i = 0; i < v.rows * length; ++i) {
    ASSERT_EQ(v.a[i], v.a[i % (LtSampleValues::kDistinct * length)]) << i;
  }
}

class LtClassTest : public OnDeviceTest {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (IsSkipped()) return;
    int major = 0, device = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (major != 9) GTEST_SKIP() << "the class is one of Hopper's algorithms";
  }
};

LtProblem dense(const LtForm& form, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.form = form, .m = m, .n = n, .k = k, .a_row = k, .w_row = form.nt ? k : n, .y_row = n};
}

TEST_F(LtClassTest, ServesEveryFormAtEveryHeight) {
  // Else other kernels would serve, with the right bits but more slowly.
  LtClass& lt = LtClass::here();
  for (const cudaDataType_t in : {CUDA_R_16BF, CUDA_R_16F}) {
    ASSERT_TRUE(lt.serves(in, nullptr)) << "no algorithm has the bits of gemm_mma: type " << in;
    for (const bool nt : {true, false}) {
      for (const LtForm& form : {LtForm{in, CUDA_R_32F, nt, false, false},
                                 LtForm{in, CUDA_R_32F, nt, false, true},
                                 LtForm{in, in, nt, false, false},
                                 LtForm{in, in, nt, true, false}}) {
        for (const std::int64_t m : {1, 2, 8, 50, 256, 8832}) {
          for (const auto& [n, k] : {std::pair{16, 8},
                                     std::pair{72, 256},
                                     std::pair{1152, 1152},
                                     std::pair{2048, 2048}}) {
            EXPECT_NE(lt.find(dense(form, m, n, k), nullptr), nullptr)
                << "type " << in << " out " << form.out << " nt " << nt << " bias " << form.bias
                << " adds " << form.adds << ": " << m << "x" << n << "x" << k;
          }
        }
      }
    }
  }
}

/// Algorithms of other families that the library takes for the problem.
std::vector<cublasLtMatmulAlgo_t> other_algorithms(cublasLtHandle_t lt, const LtProblem& p) {
  int ids[100], count = 0;
  const cudaDataType_t in = p.form.in, out = p.form.out;
  check_lt(cublasLtMatmulAlgoGetIds(
               lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, in, in, out, out, 100, ids, &count),
           "list algorithms");
  std::vector<cublasLtMatmulAlgo_t> found;
  for (int i = 0; i < count; ++i) {
    cublasLtMatmulAlgo_t algorithm;
    std::uint32_t tiles[64];
    std::size_t bytes = 0;
    if (cublasLtMatmulAlgoInit(
            lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, in, in, out, out, ids[i], &algorithm) !=
            CUBLAS_STATUS_SUCCESS ||
        cublasLtMatmulAlgoCapGetAttribute(
            &algorithm, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, sizeof tiles, &bytes) !=
            CUBLAS_STATUS_SUCCESS) {
      continue;
    }
    for (std::size_t t = 0; t < bytes / sizeof tiles[0]; ++t) {
      cublasLtMatmulAlgoConfigSetAttribute(
          &algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, &tiles[t], sizeof tiles[t]);
      if (workspace_for(lt, p, algorithm)) found.push_back(algorithm);
    }
  }
  return found;
}

TEST_F(LtClassTest, RefusesAlgorithmsOfOtherOrders) {
  LtClass& lt = LtClass::here();
  const LtProblem p = dense({CUDA_R_16BF, CUDA_R_32F, true, false, false}, 264, 144, 1976);
  ASSERT_TRUE(lt.serves(CUDA_R_16BF, nullptr));
  const auto others = other_algorithms(lt.handle(), p);
  int refused = 0;
  for (const auto& algorithm : others) refused += !lt.holds(p.form, algorithm);
  EXPECT_GE(refused, 1) << "of " << others.size() << ": the check must be able to fail";
}

/// What a graph of what `queue` queues leaves in y.
template <class T, class F>
std::vector<T> replayed(const DeviceArray<T>& y, F queue) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  queue(stream);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&replay, graph, 0));
  check(cudaGraphLaunch(replay, stream));
  check(cudaStreamSynchronize(stream));
  cudaGraphExecDestroy(replay), cudaGraphDestroy(graph), cudaStreamDestroy(stream);
  return y.values();
}

TEST_F(LtClassTest, VerifiesNothingWhileAStreamIsCapturedAndGemmHasTheSameBits) {
  using T = hwy::bfloat16_t;
  const std::int64_t m = 24, n = 88, k = 200;  // extents that no other test has
  const Product<T> p(m, n, k);
  const DeviceArray<T> a(p.a), w(p.w), y(std::vector<T>(m * n));
  cpu::GemmArgs<T> g{a.data(), w.data(), nullptr, y.data()};
  g.m = m, g.n = n, g.k = k, g.a_row = k, g.w_n = k, g.y_row = n;
  const DeviceArray<unsigned char> space(std::vector<unsigned char>(32 << 20));
  const auto scratch = [&](std::size_t) -> void* { return space.data(); };
  const auto captured = replayed(y, [&](cudaStream_t stream) {
    EXPECT_FALSE(gemm_lt_directly(g, {stream, scratch}));
    gemm(g, {stream, scratch});
  });
  const auto expected = run(p);
  EXPECT_TRUE(same_bits(captured, expected));
  check(cudaMemset(y.data(), 0xFF, m * n * sizeof(T)));
  const auto known = replayed(y, [&](cudaStream_t stream) {
    EXPECT_TRUE(gemm_lt_directly(g, {stream, scratch}));
  });
  EXPECT_TRUE(same_bits(known, expected));
}

}  // namespace
}  // namespace bic::cuda

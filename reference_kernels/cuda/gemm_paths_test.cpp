// Every kernel behind gemm of the 16-bit types gives the same bytes.
#include "reference_kernels/cuda/gemm_paths.h"

#include <functional>
#include <limits>
#include <sstream>

#include "reference_kernels/cuda/gemm_lt.h"
#include "reference_kernels/cuda/gemm_testing.h"
#include "reference_kernels/cuda/gemm_wgmma.h"

namespace bic::cuda {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

template <class T>
struct Path {
  const char* name;
  std::function<bool(const cpu::GemmArgs<T>&, const Launch&)> multiply;
  std::int64_t most_k = std::numeric_limits<std::int64_t>::max();
};

template <class T>
std::vector<Path<T>> paths() {
  std::vector<Path<T>> all;
  const auto own = [&](const char* name, MmaShape shape) {
    all.push_back({name, [shape](const cpu::GemmArgs<T>& g, const Launch& launch) {
                     gemm_mma(g, launch, shape);
                     return true;
                   }});
  };
  own("own medium", MmaShape::kMedium);
  own("own flat", MmaShape::kFlat);
  own("own thin", MmaShape::kThin);
  own("own slim", MmaShape::kSlim);
  own("own large", MmaShape::kLarge);
  all.push_back({"own wgmma", [](const auto& g, const Launch& l) { return gemm_wgmma(g, l); }});
  all.push_back({"class by sums", gemm_lt_by_sums<T>});
  all.push_back({"class direct", gemm_lt_directly<T>, kNarrowChunk});
  all.push_back({"gemm", [](const auto& g, const Launch& l) {
                   gemm(g, l);
                   return true;
                 }});
  return all;
}

template <class T>
constexpr const char* kName = std::is_same_v<T, hwy::bfloat16_t> ? "bf16" : "fp16";

/// Dense operands on the device, w as [n, k] or [k, n].
template <class T>
struct Operands {
  DeviceArray<T> a, w, bias;
  cpu::GemmArgs<T> g;

  Operands(const Problem<T>& p, bool nt)
      : a(p.a), w(nt ? p.w : place(p.w, p.k, 1, p.n, 0)), bias(p.bias) {
    g.a = a.data(), g.w = w.data(), g.m = p.m, g.n = p.n, g.k = p.k;
    g.a_row = p.k, g.w_k = nt ? 1 : p.n, g.w_n = nt ? p.k : 1, g.y_row = p.n;
    if (!p.bias.empty()) g.bias = bias.data();
  }

  /// Empty when the path does not serve.
  std::vector<T> by(const Path<T>& path) {
    const DeviceArray<T> y(std::vector<T>(g.m * g.n, narrow<T>(-77.0f)));
    g.y = y.data();
    const TestLaunch launch;
    return path.multiply(g, launch.get()) ? y.values() : std::vector<T>{};
  }
};

/// How many differ, and the first of them.
template <class T>
std::string difference(const std::vector<T>& got, const std::vector<T>& expected, std::int64_t n) {
  if (got.empty()) return "not served";
  std::int64_t count = 0, first = -1;
  for (std::size_t o = 0; o < expected.size(); ++o) {
    if (bits_of(got[o]) == bits_of(expected[o])) continue;
    if (count++ == 0) first = static_cast<std::int64_t>(o);
  }
  if (count == 0) return "";
  std::ostringstream text;
  text << count << " of " << expected.size() << " differ, first row " << first / n << " column "
       << first % n << ": " << std::hex << bits_of(got[first]) << " for "
       << bits_of(expected[first]);
  return text.str();
}

template <class T>
void expect_the_same_bytes(const Problem<T>& p, const std::string& what) {
  std::vector<T> expected;
  for (const bool nt : {true, false}) {
    Operands<T> operands(p, nt);
    for (const Path<T>& path : paths<T>()) {
      if (p.k > path.most_k) continue;
      const auto y = operands.by(path);
      if (expected.empty()) expected = y;
      EXPECT_EQ(difference(y, expected, p.n), "")
          << kName<T> << " " << path.name << (nt ? " NT" : " NN") << " k " << p.k << ", " << what;
    }
  }
}

template <class T>
class GemmPaths : public OnDeviceTest {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (this->IsSkipped()) return;
    int major = 0, device = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (major != 9) GTEST_SKIP() << "all of them serve on Hopper alone";
  }
};
using Narrow = ::testing::Types<hwy::bfloat16_t, hwy::float16_t>;
TYPED_TEST_SUITE(GemmPaths, Narrow, DtypeName);

constexpr std::int64_t kTerms[] = {72, 2048, 2056, 4304, 16384};

TYPED_TEST(GemmPaths, GiveTheSameBytesWhereTheOrderShows) {
  for (const std::int64_t k : kTerms) {
    auto p = far_cancelling<TypeParam>(136, 200, k, k);
    expect_the_same_bytes(p, "with bias");
    p.bias.clear();
    p.a = random_values<TypeParam>(p.m * k, k);
    expect_the_same_bytes(p, "normal values");
    for (TypeParam& x : p.a) x = narrow<TypeParam>(std::abs(widen(x)));
    for (TypeParam& x : p.w) x = narrow<TypeParam>(std::abs(widen(x)));
    expect_the_same_bytes(p, "positive values");
  }
}

TYPED_TEST(GemmPaths, GiveTheSameBytesOfSpecialValues) {
  using T = TypeParam;
  const auto inf = narrow<T>(std::numeric_limits<float>::infinity());
  for (const std::int64_t k : {304, 4304}) {
    auto p = far_cancelling<T>(136, 200, k, 3);
    const auto row = [&](std::int64_t i) { return p.a.begin() + i * k; };
    p.w[7] = narrow<T>(0.0f);
    p.bias[0] = p.bias[5] = narrow<T>(-0.0f);
    // As small as the type has them, so that in bf16 the products underflow.
    const auto tiny = std::is_same_v<T, hwy::bfloat16_t> ? 0x1p-126f : 0x1p-24f;
    std::fill_n(p.w.begin() + 5 * k, k, narrow<T>(tiny));
    *(row(1) + 5) = strange_nan<T>();
    *(row(2) + 7) = inf;
    *(row(3) + 7) = inf, *(row(3) + k - 1) = narrow<T>(-widen(inf));
    std::fill_n(row(4), k, narrow<T>(-0.0f));
    std::fill_n(row(5), k, narrow<T>(-tiny));
    std::fill_n(row(6), k, narrow<T>(tiny));
    expect_the_same_bytes(p, "with bias");
    p.bias.clear();
    expect_the_same_bytes(p, "without bias");
  }
}

TYPED_TEST(GemmPaths, GiveTheSameBytesForAnyNumberOfRows) {
  // Where gemm itself goes from one kernel to another.
  for (const auto& [n, k] : {std::pair{256, 1152}, std::pair{1024, 4096}, std::pair{256, 16384}}) {
    const auto p = far_cancelling<TypeParam>(300, n, k, 11);
    Operands<TypeParam> all(p, true);
    const Path<TypeParam> by_gemm = paths<TypeParam>().back();
    const auto whole = all.by(by_gemm);
    for (const std::int64_t m : {1, 16, 17, 50, 64, 65, 127, 128, 256}) {
      all.g.m = m;
      EXPECT_EQ(difference(all.by(by_gemm), rows_of(whole, n, 0, m), n), "")
          << kName<TypeParam> << " " << m << " of 300 rows, n " << n << " k " << k;
    }
  }
}

TYPED_TEST(GemmPaths, TheChunksShowInTheseValues) {
  // Else no path could be told from one with other chunks.
  auto p = far_cancelling<TypeParam>(136, 200, 4304, 4304);
  const Path<TypeParam> path = paths<TypeParam>().front();
  const auto expected = Operands<TypeParam>(p, true).by(path);
  for (auto* x : {&p.a, &p.w}) {  // 64 k's to the end: other chunks, the same steps
    for (auto row = x->begin(); row != x->end(); row += p.k) std::rotate(row, row + 64, row + p.k);
  }
  const auto rotated = Operands<TypeParam>(p, true).by(path);
  int differ = 0;
  for (std::size_t o = 0; o < expected.size(); ++o) {
    differ += bits_of(expected[o]) != bits_of(rotated[o]);
  }
  EXPECT_GE(differ, 100) << "of " << expected.size();
}

}  // namespace
}  // namespace bic::cuda

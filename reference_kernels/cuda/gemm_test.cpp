#include "reference_kernels/cuda/gemm.h"

#include <limits>
#include <utility>

#include "reference_kernels/cuda/gemm_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

template <class T>
class CudaGemm : public OnDeviceTest {};
TYPED_TEST_SUITE(CudaGemm, Dtypes, DtypeName);

struct Shape {
  std::int64_t m, n, k;
};
// Beside tiles of 16, 32, 64 and 128, steps of 16 to 256, chunks of 256 and 2048; one to 21 and one
// to ten chunks, so that clusters of every size have one chunk a CTA or several, or the last none.
constexpr Shape kShapes[] = {{1, 7, 16},
                             {2, 63, 17},
                             {15, 64, 31},
                             {16, 65, 64},
                             {17, 129, 65},
                             {64, 33, 255},
                             {65, 8, 256},
                             {127, 66, 257},
                             {3, 40, 700},
                             {33, 20, 1281},
                             {5, 70, 1700},
                             {20, 70, 2305},
                             {2, 9, 5300},
                             {18, 20, 4200},
                             {3, 17, 18500}};

TYPED_TEST(CudaGemm, FollowsTheStatedOrderOrOfTensorCoresItsBound) {
  using T = TypeParam;
  const double unit = sizeof(T) == 8 ? 0x1p-53 : sizeof(T) == 4 ? 0x1p-24 : 0x1p-23;
  for (const Shape s : kShapes) {
    const auto p = far_cancelling<T>(s.m, s.n, s.k, s.k);
    const auto y = run_on_device(p);
    for (std::int64_t o = 0; o < s.m * s.n; ++o) {
      const std::int64_t i = o / s.n, j = o % s.n;
      if constexpr (sizeof(T) >= 4) {
        ASSERT_EQ(bits_of(y[o]), bits_of(in_stated_order(p, i, j))) << s.k << " " << i << " " << j;
      }
      long double sum = widen(p.bias[j]), size = std::abs(sum);
      for (std::int64_t k = 0; k < s.k; ++k) {
        const long double a = widen(p.a[i * s.k + k]), w = widen(p.w[j * s.k + k]);
        sum += a * w, size += std::abs(a * w);
      }
      const std::int64_t chain = sizeof(T) == 2 ? 2304 + s.k / 2048 : 256 + s.k / 256;
      const double terms = static_cast<double>(std::min(s.k + 2, chain + 1) + 2);
      const double bound = terms * unit * static_cast<double>(size);
      const double error = std::abs(static_cast<double>(widen(y[o]) - sum));
      ASSERT_LE(error, bound + half_ulp<T>(static_cast<double>(std::abs(sum)) + bound))
          << s.k << " " << i << " " << j;
    }
  }
}

TYPED_TEST(CudaGemm, TheOrderShowsInTheseValues) {
  // Else the tests here could not tell one order from another.
  const auto p = far_cancelling<TypeParam>(10, 10, 700);
  const auto y = run_on_device(p);
  int differ = 0;
  for (std::int64_t o = 0; o < p.m * p.n; ++o) {
    Acc<TypeParam> in_sequence = 0;
    for (std::int64_t k = 0; k < p.k; ++k) {
      in_sequence =
          std::fma(widen(p.a[o / p.n * p.k + k]), widen(p.w[o % p.n * p.k + k]), in_sequence);
    }
    const auto other = narrow<TypeParam>(in_sequence + widen(p.bias[o % p.n]));
    differ += bits_of(other) != bits_of(y[o]);
  }
  EXPECT_GE(differ, 30);
}

TYPED_TEST(CudaGemm, RowKeepsItsBitsInEveryKernelLayoutAndPosition) {
  for (const std::int64_t k : {600, 2311}) {
    const auto p = far_cancelling<TypeParam>(264, 256, k, k);
    const auto y = run_on_device(p);
    for (const Layout layout : kLayouts) {
      for (const std::int64_t m : {1, 2, 16, 17, 64, 200}) {
        for (const std::int64_t first : {std::int64_t{0}, std::int64_t{31}, p.m - m}) {
          EXPECT_TRUE(
              same_bits(run_on_device(rows_of(p, first, m), layout), rows_of(y, p.n, first, m)))
              << m << "@" << first << " k " << k << " layout " << static_cast<int>(layout);
        }
      }
      if (k > 1000 && layout != Layout::kNT) continue;
      const std::int64_t times = 32;  // 132 tiles of 128 x 128: the kernel for many rows
      const auto whole = run_on_device(repeated(p, times), layout);
      for (std::int64_t t = 0; t < times; ++t) {
        EXPECT_TRUE(same_bits(rows_of(whole, p.n, t * p.m, p.m), y)) << k << "x" << t;
      }
    }
  }
}

TYPED_TEST(CudaGemm, ColumnKeepsItsBitsInAnyWidth) {
  for (const std::int64_t m : {1, 40}) {
    const auto p = far_cancelling<TypeParam>(m, 300, 530, 5);
    for (const Layout layout : kLayouts) {
      const auto whole = run_on_device(p, layout);
      for (const std::int64_t n : {1, 2, 7, 8, 63, 64, 65, 129}) {
        auto part = p;
        part.n = n;
        part.w.resize(n * p.k);
        part.bias.resize(n);
        const auto y = run_on_device(part, layout);
        for (std::int64_t i = 0; i < m; ++i) {
          EXPECT_TRUE(same_bits(rows_of(y, n, i, 1),
                                [&] {
                                  const auto row = rows_of(whole, p.n, i, 1);
                                  return std::vector<TypeParam>(row.begin(), row.begin() + n);
                                }()))
              << n;
        }
      }
    }
  }
}

TYPED_TEST(CudaGemm, AlignmentChangesNoBit) {
  for (const std::int64_t m : {5, 70}) {
    const auto p = far_cancelling<TypeParam>(m, 136, 520, 9);
    for (const Layout layout : kLayouts) {
      const auto expected = run_on_device(p, layout);
      for (const std::int64_t offset : {1, 2, 3, 4, 8, 13}) {
        EXPECT_TRUE(same_bits(run_on_device(p, layout, offset), expected)) << m << "+" << offset;
      }
    }
  }
}

TYPED_TEST(CudaGemm, ZerosAppendedToKChangeNoBit) {
  for (const std::int64_t m : {1, 6, 50}) {
    for (const std::int64_t k : {45, 250, 512}) {
      const auto p = far_cancelling<TypeParam>(m, 29, k, 3);
      for (const Layout layout : kLayouts) {
        const auto expected = run_on_device(p, layout);
        for (const std::int64_t zeros : {1, 8, 61, 300, 2048}) {
          EXPECT_TRUE(same_bits(run_on_device(padded(p, k + zeros), layout), expected))
              << m << " " << k << "+" << zeros;
        }
      }
    }
  }
}

TYPED_TEST(CudaGemm, MatrixKeepsItsBitsInAnyBatchOfMatrices) {
  const auto p = far_cancelling<TypeParam>(3000, 70, 600, 7);
  const auto whole = run_batches(p, 1);
  for (const std::int64_t batch : {2, 30, 150, 1000, 3000}) {
    EXPECT_TRUE(same_bits(run_batches(p, batch), whole)) << batch;
  }
}

TYPED_TEST(CudaGemm, ManyBatchesAreNoneTooMany) {
  using T = TypeParam;
  const std::int64_t batch = 70000;
  const auto p = far_cancelling<T>(batch, 1, 3, 7);
  const auto y = run_batches(p, batch);
  EXPECT_TRUE(same_bits(y, run_batches(p, 1)));
}

TYPED_TEST(CudaGemm, ProductOfAStackIsThatOfEachMatrixAlone) {
  using T = TypeParam;
  const std::int64_t batch = 7, m = 19, n = 24, k = 300;
  std::vector<Problem<T>> each;
  Problem<T> all = far_cancelling<T>(0, 0, 0);
  for (std::int64_t b = 0; b < batch; ++b) {
    each.push_back(far_cancelling<T>(m, n, k, 3 * b));
    all.a.insert(all.a.end(), each[b].a.begin(), each[b].a.end());
    all.w.insert(all.w.end(), each[b].w.begin(), each[b].w.end());
    all.bias.insert(all.bias.end(), each[b].bias.begin(), each[b].bias.end());
  }
  const DeviceArray<T> a(all.a), w(all.w), bias(all.bias), y(std::vector<T>(batch * m * n));
  cpu::GemmArgs<T> g{a.data(), w.data(), bias.data(), y.data()};
  g.batch = batch, g.m = m, g.n = n, g.k = k, g.a_row = k, g.w_n = k, g.y_row = n;
  g.a_batch = m * k, g.w_batch = n * k, g.bias_batch = n, g.y_batch = m * n;
  const TestLaunch launch;
  gemm(g, launch.get());
  const auto got = y.values();
  for (std::int64_t b = 0; b < batch; ++b) {
    EXPECT_TRUE(same_bits(rows_of(got, n, b * m, m), run_on_device(each[b]))) << b;
  }
}

/// alpha * sums + beta * c with three roundings, of the types whose sums y holds.
template <class T>
std::vector<T> scaled(const std::vector<T>& sums, const std::vector<T>& c, T alpha, T beta) {
  std::vector<T> y;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const T left = alpha * sums[i], right = beta * c[i];
    y.push_back(left + right);
  }
  return y;
}

TYPED_TEST(CudaGemm, AddendOfAnyShapeIsScaledAndAddedInPlaceToo) {
  using T = TypeParam;
  const TestLaunch launch;
  for (const std::int64_t m : {2, 40}) {
    const std::int64_t n = 34, k = 300;
    const DeviceArray<T> a(random_values<T>(m * k, 1)), w(random_values<T>(n * k, 2));
    const DeviceArray<T> y(std::vector<T>(m * n));
    const auto c = random_values<T>(m * n, 3);
    const DeviceArray<T> c_there(c);
    cpu::GemmArgs<T> g{a.data(), w.data(), nullptr, y.data()};
    g.m = m, g.n = n, g.k = k, g.a_row = k, g.w_n = k, g.y_row = n;
    gemm(g, launch.get());
    const auto sums = y.values();
    g.alpha = 0.75, g.beta = -1.5;
    for (const auto& [row, col] :
         {std::pair{n, 1}, std::pair{n, 0}, std::pair{std::int64_t{0}, 1}}) {
      std::vector<T> addend(m * n);
      for (std::int64_t i = 0; i < m * n; ++i) addend[i] = c[i / n * row + i % n * col];
      g.bias = c_there.data(), g.bias_row = row, g.bias_n = col, g.y = y.data();
      gemm(g, launch.get());
      const auto got = y.values();
      if constexpr (sizeof(T) >= 4) {
        EXPECT_TRUE(same_bits(got, scaled<T>(sums, addend, 0.75, -1.5))) << m << row << col;
      }
      const DeviceArray<T> in_place(addend);
      g.bias = in_place.data(), g.bias_row = n, g.bias_n = 1, g.y = in_place.data();
      gemm(g, launch.get());
      EXPECT_TRUE(same_bits(in_place.values(), got)) << "in place";
    }
  }
}

TYPED_TEST(CudaGemm, EmptySumIsTheBiasOrPlusZero) {
  for (const std::int64_t m : {1, 40, 1500}) {
    Problem<TypeParam> p(m, 1500, 0);
    for (const Layout layout : kLayouts) {
      const auto y = run_on_device(p, layout);
      for (std::int64_t o = 0; o < m * p.n; ++o) {
        ASSERT_EQ(bits_of(y[o]), bits_of(p.bias[o % p.n]));
      }
    }
    p.bias.clear();
    for (const TypeParam v : run_on_device(p)) ASSERT_EQ(bits_of(v), 0u);
  }
}

TYPED_TEST(CudaGemm, SumOfUnderflowsIsPlusZeroPaddedOrNot) {
  Problem<TypeParam> p(3, 4, 300);
  const Acc<TypeParam> tiny = std::numeric_limits<Acc<TypeParam>>::min();
  p.a.assign(p.a.size(), narrow<TypeParam>(tiny));
  p.w.assign(p.w.size(), narrow<TypeParam>(-tiny));
  // To a bias of -0 the sum's own sign matters: -0 alone would stay -0.
  p.bias.assign(p.n, narrow<TypeParam>(Acc<TypeParam>(-0.0)));
  for (const Layout layout : kLayouts) {
    for (const TypeParam v : run_on_device(p, layout)) EXPECT_EQ(bits_of(v), 0u);
    for (const TypeParam v : run_on_device(padded(p, 640), layout)) EXPECT_EQ(bits_of(v), 0u);
  }
}

TYPED_TEST(CudaGemm, NanIsOneAndStaysInItsRow) {
  const auto inf = narrow<TypeParam>(std::numeric_limits<Acc<TypeParam>>::infinity());
  for (const std::int64_t m : {3, 60}) {
    auto p = far_cancelling<TypeParam>(m, 31, 400, 8);
    for (std::int64_t j = 0; j < p.n; ++j) {
      p.w[j * p.k + 3] = p.w[j * p.k + 304] = narrow<TypeParam>(1);
    }
    const auto clean = run_on_device(p);
    p.a[1 * p.k + 399] = strange_nan<TypeParam>();
    p.a[2 * p.k + 3] = inf;
    p.a[2 * p.k + 304] = narrow<TypeParam>(-widen(inf));  // of floats in another chunk
    for (const Layout layout : kLayouts) {
      const auto y = run_on_device(p, layout);
      for (std::int64_t o = 0; o < m * p.n; ++o) {
        const bool bad = o / p.n == 1 || o / p.n == 2;
        EXPECT_EQ(bits_of(y[o]), bad ? product_nan_bits<TypeParam>() : bits_of(clean[o]));
      }
    }
  }
}

TYPED_TEST(CudaGemm, BroadcastAndReversedOperandsAreRead) {
  using T = TypeParam;
  const std::int64_t m = 21, n = 20, k = 333;
  auto p = far_cancelling<T>(m, n, k);
  for (std::int64_t e = k; e < m * k; ++e) p.a[e] = p.a[e % k];
  p.bias.clear();
  const std::vector<T> reversed(p.a.rend() - k, p.a.rend());
  const DeviceArray<T> a(reversed), w(p.w), y(std::vector<T>(m * n));
  cpu::GemmArgs<T> g{a.data() + k - 1, w.data(), nullptr, y.data()};
  g.m = m, g.n = n, g.k = k, g.a_row = 0, g.a_k = -1, g.w_n = k, g.y_row = n;
  const TestLaunch launch;
  gemm(g, launch.get());
  EXPECT_TRUE(same_bits(y.values(), run_on_device(p)));
}

}  // namespace
}  // namespace bic::cuda

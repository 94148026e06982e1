#include "reference_kernels/cuda/sum.h"

#include <algorithm>
#include <cmath>

#include "reference_kernels/cuda/cuda_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;            // NOLINT: the test's own vocabulary
using namespace bic::cpu::testing;  // NOLINT
using cpu::SumOf;

constexpr SumOf kKinds[] = {
    SumOf::kTerms, SumOf::kSizes, SumOf::kSquares, SumOf::kDeviations, SumOf::kFactors};

enum class Layout { kRows, kColumns, kStrided, kTwoAxes };
constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kStrided, Layout::kTwoAxes};

template <class T>
struct Result {
  std::vector<T> y, mean;
};

/// What is done to the sums.
struct Rule {
  SumOf of = SumOf::kTerms;
  double divisor = 1;
  bool root = false;
};

/// Extents and strides of `rows` rows of n; term r of row i is x[i * row + r * term], but in two
/// axes a gap of 8 follows every `g.reduced` terms.
template <class T>
struct Laid {
  cpu::SumArgs<T> g;
  std::int64_t row, term, gap = 0;
  Laid(std::int64_t rows, std::int64_t n, Layout layout, std::int64_t pad) {
    g.reduced = n, row = n + pad, term = 1;
    if (layout == Layout::kColumns) row = 1, term = rows + pad;
    if (layout == Layout::kStrided) row = 2, term = 2 * rows + 1;
    if (layout == Layout::kTwoAxes && n % 3 == 0 && n > 0) {
      gap = 8, g.reduced = n / 3, g.slow = 3, g.x_slow = g.reduced + gap, row += 24;
    }
    g.x_reduced = term;
    if (layout == Layout::kRows || layout == Layout::kTwoAxes) {
      g.outer = rows, g.x_outer = row, g.y_outer = 1;
    } else {
      g.inner = rows, g.x_inner = row, g.y_inner = 1;
    }
  }
  std::int64_t at(std::int64_t i, std::int64_t r) const {
    return i * row + r * term + (gap ? r / g.reduced * gap : 0);
  }
};

template <class T>
Result<T> run(const std::vector<T>& x,
              std::int64_t rows,
              std::int64_t n,
              Layout layout,
              const Rule& rule,
              std::int64_t offset = 0) {
  Laid<T> laid(rows, n, layout, offset);
  std::vector<T> host(laid.at(rows, std::max<std::int64_t>(n, 1)) + 1, narrow<T>(Acc<T>(99)));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t r = 0; r < n; ++r) host[laid.at(i, r)] = x[i * n + r];
  }
  const DeviceArray<T> device(host, offset);
  const std::vector<T> fives(rows, narrow<T>(Acc<T>(5)));
  const DeviceArray<T> y(fives), mean(fives);
  laid.g.x = device.data(), laid.g.y = y.data(), laid.g.mean = mean.data();
  laid.g.of = rule.of, laid.g.divisor = rule.divisor, laid.g.root = rule.root;
  const TestLaunch launch;
  sum(laid.g, launch.get());
  Result<T> result{y.values(), mean.values()};
  if (rule.of != SumOf::kDeviations) result.mean.clear();
  return result;
}

/// cancelling_rows, with the two of a pair half a row apart: neighbours would cancel in their lane.
template <class T>
std::vector<T> far_cancelling_rows(std::int64_t rows, std::int64_t n, std::uint64_t seed) {
  const auto near = cancelling_rows<T>(rows, n, seed);
  std::vector<T> x;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t r = 0; r < n; r += 2) x.push_back(near[i * n + r]);
    for (std::int64_t r = 1; r < n; r += 2) x.push_back(near[i * n + r]);
  }
  return x;
}

template <class A>
A joined(A a, A b, bool multiplies) {
  return multiplies ? a * b : a + b;
}

/// sum.h's lanes and their fold over `terms`, of which `width` follow one another in a lane.
template <class A, class Add>
A naive_lanes(const std::vector<A>& terms, std::int64_t width, bool multiplies, const Add& add) {
  std::vector<A> lane(256, A(multiplies));
  for (std::size_t r = 0; r < terms.size(); ++r) {
    lane[r / width % 256] = add(lane[r / width % 256], terms[r]);
  }
  for (int half = 128; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] = joined(lane[l], lane[l + half], multiplies);
  }
  return lane[0];
}

/// sum.h's sum of f over a row of type T, before the division.
template <class T>
Acc<T> naive_row(const std::vector<Acc<T>>& row, SumOf of, Acc<T> center) {
  using A = Acc<T>;
  const bool multiplies = of == SumOf::kFactors;
  const auto add = [&](A lane, A x) -> A {
    const A factor = of == SumOf::kDeviations ? x - center : x;
    if (of == SumOf::kSizes) return lane + std::abs(x);
    if (of == SumOf::kSquares || of == SumOf::kDeviations) return std::fma(factor, factor, lane);
    return joined(lane, x, multiplies);
  };
  std::vector<A> chunks;
  for (std::size_t first = 0; first < row.size(); first += 8192) {
    const auto end = row.begin() + std::min(row.size(), first + 8192);
    chunks.push_back(naive_lanes<A>({row.begin() + first, end}, 16 / sizeof(T), multiplies, add));
  }
  if (chunks.size() == 1) return chunks[0];
  return naive_lanes<A>(
      chunks, 16 / sizeof(A), multiplies, [&](A lane, A x) { return joined(lane, x, multiplies); });
}

template <class T>
Result<T> run_naive(const std::vector<T>& x, std::int64_t rows, std::int64_t n, const Rule& rule) {
  using A = Acc<T>;
  Result<T> result;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<A> row;
    for (std::int64_t r = 0; r < n; ++r) row.push_back(widen(x[i * n + r]));
    A center = 0;
    if (rule.of == SumOf::kDeviations) {
      center = naive_row<T>(row, SumOf::kTerms, A(0)) / static_cast<A>(n);
      result.mean.push_back(narrow<T>(center));
    }
    const A sum = naive_row<T>(row, rule.of, center) / static_cast<A>(rule.divisor);
    result.y.push_back(narrow<T>(rule.root ? std::sqrt(sum) : sum));
  }
  return result;
}

template <class T>
class CudaSum : public OnDeviceTest {};
TYPED_TEST_SUITE(CudaSum, Dtypes, DtypeName);

TYPED_TEST(CudaSum, FollowsTheStatedOrderInEveryLayout) {
  for (const std::int64_t n : {1, 2, 31, 33, 255, 257, 999, 1000, 4097, 8192, 8193, 19998}) {
    for (const std::int64_t rows : {1, 3, 41}) {
      const auto x = far_cancelling_rows<TypeParam>(rows, n, n);
      const auto expected = run_naive(x, rows, n, {});
      for (const Layout layout : kLayouts) {
        EXPECT_TRUE(same_bits(run(x, rows, n, layout, {}).y, expected.y))
            << rows << "x" << n << " layout " << static_cast<int>(layout);
      }
    }
  }
}

TYPED_TEST(CudaSum, EveryKindFollowsTheStatedOrderInEveryLayout) {
  for (const SumOf of : kKinds) {
    for (const std::int64_t n : {1, 33, 99, 4098, 20001}) {
      const std::int64_t rows = 9;
      auto x = random_values<TypeParam>(rows * n, n);
      const Rule rule{of, static_cast<double>(n) + 3, of != SumOf::kTerms};
      const auto expected = run_naive(x, rows, n, rule);
      for (const Layout layout : kLayouts) {
        const auto found = run(x, rows, n, layout, rule);
        EXPECT_TRUE(same_bits(found.y, expected.y)) << static_cast<int>(of) << " of " << n;
        EXPECT_TRUE(same_bits(found.mean, expected.mean)) << static_cast<int>(of) << " of " << n;
      }
    }
  }
}

TYPED_TEST(CudaSum, RowKeepsItsBitsInAnyBatchAndAtAnyAddress) {
  for (const std::int64_t n : {150, 1500}) {
    const std::int64_t rows = 2100;  // a warp to a row, of which a block has one if it is alone
    const auto x = far_cancelling_rows<TypeParam>(rows, n, 4);
    const auto expected = run_naive(x, rows, n, {}).y;
    for (const Layout layout : kLayouts) {
      for (const std::int64_t offset : {0, 1, 7}) {
        EXPECT_TRUE(same_bits(run(x, rows, n, layout, {}, offset).y, expected)) << offset;
      }
    }
    for (const std::int64_t i : {0, 1, 1000, 2099}) {
      const std::vector<TypeParam> alone(x.begin() + i * n, x.begin() + (i + 1) * n);
      EXPECT_TRUE(same_bits(run(alone, 1, n, Layout::kRows, {}, i % 3).y, {expected[i]})) << i;
    }
  }
}

TYPED_TEST(CudaSum, ZerosAppendedToARowChangeNoBit) {
  const auto x = far_cancelling_rows<TypeParam>(1, 4043, 6);
  const auto expected = run_naive(x, 1, 4043, {}).y;
  for (const std::int64_t n : {4044, 4096, 8192, 8193, 30000}) {
    auto longer = x;
    longer.resize(n, narrow<TypeParam>(0));
    for (const Layout layout : {Layout::kRows, Layout::kStrided}) {
      EXPECT_TRUE(same_bits(run(longer, 1, n, layout, {}).y, expected)) << n;
    }
  }
}

TYPED_TEST(CudaSum, TheOrderShowsInTheseValues) {
  // Else the tests above could not tell one order from another.
  int differ = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const auto x = far_cancelling_rows<TypeParam>(1, 1000, seed);
    Acc<TypeParam> in_sequence = 0;
    for (const TypeParam v : x) in_sequence += widen(v);
    const auto y = run(x, 1, 1000, Layout::kRows, {}).y;
    differ += bits_of(narrow<TypeParam>(in_sequence)) != bits_of(y[0]);
  }
  EXPECT_GE(differ, 20);
}

TYPED_TEST(CudaSum, NanIsCanonicalAndStaysInItsRow) {
  const auto inf = std::numeric_limits<Acc<TypeParam>>::infinity();
  auto x = far_cancelling_rows<TypeParam>(20, 33, 2);
  const auto clean = run_naive(x, 20, 33, {}).y;
  x[5 * 33 + 32] = strange_nan<TypeParam>();
  x[6 * 33] = narrow<TypeParam>(inf);
  x[6 * 33 + 9] = narrow<TypeParam>(-inf);
  for (const Layout layout : kLayouts) {
    const auto y = run(x, 20, 33, layout, {}).y;
    for (int i = 0; i < 20; ++i) {
      const bool bad = i == 5 || i == 6;
      EXPECT_EQ(bits_of(y[i]), bad ? canonical_nan_bits<TypeParam>() : bits_of(clean[i]));
    }
  }
}

TYPED_TEST(CudaSum, OfNothingIsPlusZeroAndItsMeanIsNanAndItsProductOne) {
  const std::vector<TypeParam> x;
  for (const Layout layout : {Layout::kRows, Layout::kColumns}) {
    for (const TypeParam v : run(x, 9, 0, layout, {}).y) EXPECT_EQ(bits_of(v), 0u);
    for (const TypeParam v : run(x, 9, 0, layout, {SumOf::kTerms, 0}).y) {
      EXPECT_EQ(bits_of(v), canonical_nan_bits<TypeParam>());
    }
    for (const TypeParam v : run(x, 9, 0, layout, {SumOf::kFactors}).y) EXPECT_EQ(widen(v), 1);
    EXPECT_TRUE(run(x, 0, 5, layout, {}).y.empty());
  }
}

TYPED_TEST(CudaSum, OfNegativeZerosIsPlusZero) {
  const std::vector<TypeParam> x(17 * 40, narrow<TypeParam>(Acc<TypeParam>(-0.0)));
  for (const Layout layout : kLayouts) {
    for (const TypeParam v : run(x, 17, 40, layout, {}).y) EXPECT_EQ(bits_of(v), 0u);
  }
}

}  // namespace
}  // namespace bic::cuda

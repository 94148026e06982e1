#include "reference_kernels/cuda/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "reference_kernels/cuda/attention_testing.h"

namespace bic::cuda {
namespace {

using namespace testing;  // NOLINT: test

/// Of both kernels: those of e and ev.
template <class T>
std::vector<Problem<T>> problems() {
  std::vector<Problem<T>> all;
  for (const auto& [batch, heads, key_heads, l, s, e, ev] :
       std::vector<std::array<std::int64_t, 7>>{{5, 2, 2, 7, 45, 33, 33},
                                                {3, 8, 1, 1, 130, 64, 64},
                                                {2, 4, 2, 19, 65, 16, 16},
                                                {2, 1, 1, 70, 70, 3, 5},
                                                {1, 2, 2, 66, 200, 72, 72},
                                                {2, 4, 1, 33, 129, 256, 256},
                                                {2, 2, 1, 31, 64, 40, 24},
                                                {1, 2, 2, 5, 63, 8, 136},
                                                {1, 1, 1, 5, 1, 20, 300}}) {
    Problem<T> p{batch, heads, key_heads, l, s, e, ev};
    all.push_back(random_problem(p, 10 * all.size()));
    all.push_back(all.back());
    hide_some(all.back(), all.size());
    all.push_back(random_problem(p, 10 * all.size()));
    all.back().added = random_values<Acc<T>>(batch * l * s, all.size());
    all.push_back(random_problem(p, 10 * all.size()));
    all.back().causal = true;
  }
  return all;
}

template <class T>
class Attention : public OnDeviceTest {};
TYPED_TEST_SUITE(Attention, Dtypes, DtypeName);

/// One output and how far an honest implementation may be from it.
struct Exact {
  long double value, bound;
};

/// The tensor cores get weights of type T.
template <class T>
long double weight_unit(const Problem<T>& p) {
  const bool rounds = sizeof(T) == 2 && p.e % 8 == 0 && p.ev % 8 == 0 && p.ev <= 256;
  if (!rounds) return 0;
  return std::is_same_v<T, hwy::bfloat16_t> ? 0x1p-8L : 0x1p-11L;
}

/// z of key j and the sum of its terms' sizes.
template <class T>
std::pair<long double, long double> logit(
    const Problem<T>& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  const T* q = p.q.data() + ((b * p.heads + h) * p.l + i) * p.e;
  const T* k = p.k.data() + (p.key_head(b, h) * p.s + j) * p.e;
  long double z = 0, size = 0;
  for (std::int64_t e = 0; e < p.e; ++e) {
    const long double term = 0.125L * widen(q[e]) * widen(k[e]);
    z += term, size += std::abs(term);
  }
  const std::int64_t at = (b * p.l + i) * p.s + j;
  if (!p.added.empty()) z += p.added[at];
  const bool hidden = (!p.seen.empty() && !p.seen[at]) || (p.causal && j > i);
  return {hidden ? -INFINITY : z, size};
}

template <class T>
Exact exact(const Problem<T>& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c) {
  std::vector<std::pair<long double, long double>> z;
  for (std::int64_t j = 0; j < p.s; ++j) z.push_back(logit(p, b, h, i, j));
  const long double max = std::max_element(z.begin(), z.end())->first;
  const long double unit = std::is_same_v<T, double> ? 0x1p-53L : 0x1p-24L;
  const long double rescalings = 10.0L * static_cast<long double>(p.s / 64);
  long double sum = 0, value = 0, wrong = 0, sizes = 0, sum_wrong = 0;
  for (std::int64_t j = 0; j < p.s; ++j) {
    const auto [x, size] = z[j];
    const long double w = std::exp(x - max),
                      v = widen(p.v[(p.key_head(b, h) * p.s + j) * p.ev + c]);
    if (w == 0) continue;
    const long double relative =
        unit * ((p.e + 4) * size + 3 * std::abs(x - max) + 10 + rescalings);
    const long double rounding =
        std::max(w, std::is_same_v<T, hwy::float16_t> ? 0x1p-14L : 0) * weight_unit(p);
    sum += w, value += w * v, sizes += w * std::abs(v);
    wrong += std::abs(v) * (w * relative + rounding), sum_wrong += w * relative;
  }
  const long double y = value / sum, units = unit * static_cast<long double>(p.s + 4);
  return {y, (wrong + units * sizes + std::abs(y) * (sum_wrong + units * sum)) / sum * 1.01L};
}

TYPED_TEST(Attention, ErrorStaysWithinItsBound) {
  for (const Problem<TypeParam>& p : problems<TypeParam>()) {
    const auto y = run(p);
    const auto count = static_cast<std::int64_t>(y.size());
    for (std::int64_t n = 0; n < count; n += 37 + count / 499) {
      const std::int64_t row = n / p.ev;
      const Exact e = exact(p, row / p.l / p.heads, row / p.l % p.heads, row % p.l, n % p.ev);
      const double got = widen(y[n]), off = std::abs(static_cast<double>(got - e.value));
      EXPECT_LE(off, static_cast<double>(e.bound) + half_ulp<TypeParam>(got) * 1.01)
          << n << " of e " << p.e << ", ev " << p.ev << ", s " << p.s;
    }
  }
}

TYPED_TEST(Attention, RowKeepsItsBitsAlone) {
  for (const Problem<TypeParam>& p : problems<TypeParam>()) {
    const auto y = run(p);
    const std::int64_t rows = p.batch * p.heads * p.l;
    for (std::int64_t r = 0; r < rows; r += 1 + rows / 19) {
      const std::int64_t b = r / p.l / p.heads, h = r / p.l % p.heads, i = r % p.l;
      const auto one = row_alone(p, b, h, i, p.causal ? std::min(p.s, i + 1) : p.s);
      EXPECT_TRUE(same_bits(run(one), part(y, rows, r))) << r << " of e " << p.e;
    }
  }
}

TYPED_TEST(Attention, StridesAndAlignmentChangeNoBit) {
  using T = TypeParam;
  for (const std::int64_t e : {21, 24, 72}) {
    Problem<T> p = random_problem(Problem<T>{1, 2, 2, 9, 137, e, e}, 5);
    const auto dense = run(p);
    for (const std::int64_t offset : {1, 4}) {
      EXPECT_TRUE(same_bits(run(p, args_of(p), offset), dense));
    }
    cpu::AttentionArgs<T> g = args_of(p);
    // [head, column, row] instead of [head, row, column].
    const auto turn = [&](std::vector<T>& x, std::int64_t rows) {
      const std::vector<T> old = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int64_t h = i / (rows * e), r = i / e % rows, c = i % e;
        x[(h * e + c) * rows + r] = old[i];
      }
      return cpu::HeadStrides{0, rows * e, 1, rows};
    };
    g.q_at = turn(p.q, p.l), g.k_at = turn(p.k, p.s), g.v_at = turn(p.v, p.s);
    EXPECT_TRUE(same_bits(run(p, g), dense));
  }
}

TYPED_TEST(Attention, ChunksHaveTheBitsOfACausalPrefill) {
  using T = TypeParam;
  for (const std::int64_t e : {19, 40}) {
    Problem<T> p = random_problem(Problem<T>{1, 1, 1, 150, 150, e, e, true}, 8);
    const auto y = run(p);
    for (const std::int64_t first : {1, 16, 64, 65, 149}) {
      Problem<T> chunk = p;
      chunk.causal = false;
      chunk.l = p.l - first;
      chunk.q = slice(p.q, first * e, chunk.l * e);
      for (std::int64_t i = 0; i < chunk.l * p.s; ++i) {
        chunk.seen.push_back(i % p.s <= first + i / p.s);
      }
      EXPECT_TRUE(same_bits(run(chunk), slice(y, first * e, chunk.l * e))) << first;
    }
  }
}

/// What a key may hold that no row is to notice.
template <class T>
std::vector<T> fillers() {
  const Acc<T> infinity = std::numeric_limits<Acc<T>>::infinity();
  const Acc<T> large = std::is_same_v<T, hwy::float16_t> ? Acc<T>(65504) : Acc<T>(0x1p126);
  return {narrow<T>(0), strange_nan<T>(), narrow<T>(-infinity), narrow<T>(large)};
}

TYPED_TEST(Attention, PaddedKeysChangeNoBitWhateverTheyHold) {
  using T = TypeParam;
  for (const std::int64_t e : {19, 24}) {
    const Problem<T> p = random_problem(Problem<T>{1, 1, 1, 6, 51, e, e}, 9);
    for (const T filler : fillers<T>()) {
      for (const std::int64_t padding : {1, 13, 80}) {
        Problem<T> longer = p;
        longer.s += padding;
        longer.k.resize(longer.s * e, filler), longer.v.resize(longer.s * e, filler);
        Problem<T> added = longer;
        const Acc<T> lowest = -std::numeric_limits<Acc<T>>::infinity();
        for (std::int64_t i = 0; i < p.l * longer.s; ++i) {
          longer.seen.push_back(i % longer.s < p.s);
          added.added.push_back(i % longer.s < p.s ? 0 : lowest);
        }
        EXPECT_TRUE(same_bits(run(longer), run(p)));
        EXPECT_TRUE(same_bits(run(added), run(p)));
      }
    }
  }
}

TYPED_TEST(Attention, RowsDoNotNoticeWhatOthersSee) {
  using T = TypeParam;
  for (const std::int64_t e : {19, 24}) {
    Problem<T> p = random_problem(Problem<T>{1, 1, 1, 70, 140, e, e}, 12);
    for (T& x : p.v) x = narrow<T>(std::ldexp(widen(x), -9));
    for (std::int64_t i = 0; i < p.l * p.s; ++i) {
      p.seen.push_back(i % p.s % 5 != 3 || i / p.s % 2 == 1);
    }
    const auto clean = run(p);
    for (const T filler : fillers<T>()) {
      for (std::int64_t j = 3; j < p.s; j += 5) {
        std::fill_n(p.k.begin() + j * e, e, filler), std::fill_n(p.v.begin() + j * e, e, filler);
      }
      const auto y = run(p);
      for (std::int64_t i = 0; i < p.l; i += 2) {
        EXPECT_TRUE(same_bits(part(y, p.l, i), part(clean, p.l, i))) << i;
      }
      EXPECT_FALSE(same_bits(part(y, p.l, 1), part(clean, p.l, 1)));
    }
  }
}

TYPED_TEST(Attention, InfiniteValueOfASeenKeyIsTheSum) {
  using T = TypeParam;
  for (const std::int64_t e : {19, 24}) {
    Problem<T> p = random_problem(Problem<T>{1, 1, 1, 3, 70, e, e}, 13);
    const T infinity = narrow<T>(std::numeric_limits<Acc<T>>::infinity());
    const auto clean = run(p);
    p.v[2 * e + 1] = infinity;
    const auto y = run(p);
    for (std::int64_t i = 0; i < p.l * e; ++i) {
      EXPECT_EQ(bits_of(y[i]), bits_of(i % e == 1 ? infinity : clean[i])) << i;
    }
  }
}

TYPED_TEST(Attention, NanIsCanonicalAndARowThatSeesNoKeyIsZero) {
  using T = TypeParam;
  for (const std::int64_t e : {19, 24}) {
    Problem<T> p = random_problem(Problem<T>{1, 1, 1, 5, 100, e, e}, 11);
    hide_some(p, 3);
    const auto clean = run(p);
    p.q[e + 3] = strange_nan<T>();
    std::fill_n(p.seen.begin() + 2 * p.s, p.s, 0);
    std::fill_n(p.seen.begin() + 3 * p.s, 64, 0);  // the first block
    p.seen[3 * p.s + 70] = 1;
    const auto y = run(p);
    for (std::int64_t c = 0; c < e; ++c) {
      EXPECT_EQ(bits_of(y[e + c]), canonical_nan_bits<T>());
      EXPECT_EQ(bits_of(y[2 * e + c]), 0u);
    }
    EXPECT_TRUE(same_bits(part(y, p.l, 3), run(row_alone(p, 0, 0, 3, p.s))));
    EXPECT_TRUE(same_bits(part(y, p.l, 4), part(clean, p.l, 4)));
  }
}

TYPED_TEST(Attention, NoKeysGiveZeroAndNoQueriesNothing) {
  for (const std::int64_t e : {5, 8}) {
    for (const auto y :
         run(Problem<TypeParam>{1, 1, 1, 2, 0, e, e, false, std::vector<TypeParam>(2 * e)})) {
      EXPECT_EQ(bits_of(y), 0u);
    }
    EXPECT_TRUE(run(random_problem(Problem<TypeParam>{1, 1, 1, 0, 9, e, e}, 1)).empty());
  }
}

}  // namespace
}  // namespace bic::cuda

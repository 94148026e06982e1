#include "reference_kernels/cpu/attention.h"

#include "reference_kernels/cpu/kernel_testing.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: test

/// Operands that own their values, row-major: q [batch, heads, l, e], k and v [batch, key_heads, s,
/// e], masks [batch, 1, l, s].
template <class T>
struct Problem {
  std::int64_t batch = 1, heads = 1, key_heads = 1, l = 1, s = 1, e = 1;
  std::vector<T> q, k, v;
  std::vector<char> seen;
  std::vector<Acc<T>> added;
  bool causal = false;

  std::int64_t row(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return ((b * heads + h) * l + i) * e;
  }
  std::int64_t key(std::int64_t b, std::int64_t h, std::int64_t j) const {
    return ((b * key_heads + h) * s + j) * e;
  }
};

template <class T>
Problem<T> random_problem(Problem<T> p, std::uint64_t seed) {
  p.q = random_values<T>(p.batch * p.heads * p.l * p.e, seed);
  p.k = random_values<T>(p.batch * p.key_heads * p.s * p.e, seed + 1);
  p.v = random_values<T>(p.batch * p.key_heads * p.s * p.e, seed + 2);
  return p;
}

template <class T>
AttentionArgs<T> args_of(const Problem<T>& p, T* y) {
  AttentionArgs<T> g;
  g.q = p.q.data(), g.k = p.k.data(), g.v = p.v.data(), g.y = y;
  g.q_at = g.y_at = {p.heads * p.l * p.e, p.l * p.e, p.e};
  g.k_at = g.v_at = {p.key_heads * p.s * p.e, p.s * p.e, p.e};
  g.mask_at = {p.l * p.s, 0, p.s};
  if (!p.seen.empty()) g.seen = reinterpret_cast<const bool*>(p.seen.data());
  if (!p.added.empty()) g.added = p.added.data();
  g.causal = p.causal;
  g.batch = p.batch, g.heads = p.heads, g.key_heads = p.key_heads;
  g.l = p.l, g.s = p.s, g.e = g.ev = p.e;
  g.scale = 0.125;
  return g;
}

template <class T>
std::vector<T> run(const Problem<T>& p, const ParallelFor& parallel = serial) {
  std::vector<T> y(p.q.size(), Guarded<T>::guard());
  attention(args_of(p, y.data()), parallel);
  return y;
}

template <class V>
V slice(const V& x, std::int64_t first, std::int64_t count) {
  return V(x.begin() + first, x.begin() + first + count);
}

/// Sample b alone.
template <class T>
Problem<T> sample(const Problem<T>& p, std::int64_t b) {
  Problem<T> one = p;
  one.batch = 1;
  one.q = slice(p.q, p.row(b, 0, 0), p.heads * p.l * p.e);
  one.k = slice(p.k, p.key(b, 0, 0), p.key_heads * p.s * p.e);
  one.v = slice(p.v, p.key(b, 0, 0), p.key_heads * p.s * p.e);
  if (!p.seen.empty()) one.seen = slice(p.seen, b * p.l * p.s, p.l * p.s);
  if (!p.added.empty()) one.added = slice(p.added, b * p.l * p.s, p.l * p.s);
  return one;
}

/// Query `i` of one sample with one head, before the first `s` keys.
template <class T>
Problem<T> decode(const Problem<T>& p, std::int64_t i, std::int64_t s) {
  return {.s = s,
          .e = p.e,
          .q = slice(p.q, i * p.e, p.e),
          .k = slice(p.k, 0, s * p.e),
          .v = slice(p.v, 0, s * p.e)};
}

/// Some keys of each row unseen, never the first.
template <class T>
void hide_some(Problem<T>& p, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  p.seen.assign(p.batch * p.l * p.s, 1);
  for (std::size_t i = 0; i < p.seen.size(); ++i) p.seen[i] = i % p.s == 0 || bits() % 3 != 0;
}

template <class T>
class Attention : public ::testing::Test {};
TYPED_TEST_SUITE(Attention, Dtypes, DtypeName);

template <class T>
std::vector<Problem<T>> problems() {
  std::vector<Problem<T>> all;
  for (Problem<T> shape :
       {Problem<T>{.batch = 5, .heads = 2, .key_heads = 2, .l = 7, .s = 45, .e = 33},
        Problem<T>{.batch = 3, .heads = 8, .key_heads = 1, .l = 1, .s = 130, .e = 64},
        Problem<T>{.batch = 2, .heads = 4, .key_heads = 2, .l = 19, .s = 65, .e = 16},
        Problem<T>{.batch = 2, .heads = 1, .key_heads = 1, .l = 70, .s = 70, .e = 3}}) {
    all.push_back(random_problem(shape, 10 * all.size()));
    all.push_back(all.back());
    hide_some(all.back(), all.size());
    all.push_back(random_problem(shape, 10 * all.size()));
    all.back().causal = true;
  }
  all.front().added = random_values<Acc<T>>(5 * 7 * 45, 7);
  return all;
}

TYPED_TEST(Attention, SampleKeepsItsBitsInAnyBatch) {
  for (const Problem<TypeParam>& p : problems<TypeParam>()) {
    const auto y = run(p);
    for (std::int64_t b = 0; b < p.batch; ++b) {
      EXPECT_TRUE(same_bits(run(sample(p, b)), slice(y, p.row(b, 0, 0), p.heads * p.l * p.e)));
    }
  }
}

TYPED_TEST(Attention, ThreadsChangeNoBit) {
  for (const Problem<TypeParam>& p : problems<TypeParam>()) {
    EXPECT_TRUE(same_bits(run(p, odd_threads), run(p)));
    EXPECT_TRUE(same_bits(run(p, one_by_one), run(p)));
  }
}

TYPED_TEST(Attention, FusingTargetsAgree) {
  for (const Problem<TypeParam>& p : problems<TypeParam>()) {
    const auto best = run(p);
    for (const std::int64_t target : targets()) {
      if (!fuses(target) || !fuses(targets().front())) continue;
      const OnTarget on(target);
      EXPECT_TRUE(same_bits(run(p), best)) << hwy::TargetName(target);
    }
  }
}

TYPED_TEST(Attention, StridesChangeNoBit) {
  using T = TypeParam;
  Problem<T> p =
      random_problem(Problem<T>{.heads = 2, .key_heads = 2, .l = 9, .s = 37, .e = 21}, 5);
  const auto dense = run(p);
  std::vector<T> y(dense.size());
  AttentionArgs<T> g = args_of(p, y.data());
  // [head, column, row] instead of [head, row, column].
  const auto turn = [&](std::vector<T>& x, std::int64_t rows) {
    const std::vector<T> old = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int64_t h = i / (rows * p.e), r = i / p.e % rows, c = i % p.e;
      x[(h * p.e + c) * rows + r] = old[i];
    }
    return HeadStrides{0, rows * p.e, 1, rows};
  };
  g.q_at = turn(p.q, p.l), g.k_at = turn(p.k, p.s), g.v_at = turn(p.v, p.s);
  attention(g, serial);
  EXPECT_TRUE(same_bits(y, dense));
}

TYPED_TEST(Attention, DecodingHasTheBitsOfACausalPrefill) {
  using T = TypeParam;
  Problem<T> p = random_problem(Problem<T>{.l = 83, .s = 83, .e = 32}, 6);
  p.causal = true;
  const auto y = run(p);
  for (std::int64_t i = 0; i < p.l; ++i) {
    EXPECT_TRUE(same_bits(run(decode(p, i, i + 1)), slice(y, i * p.e, p.e))) << i;
  }
}

TYPED_TEST(Attention, ChunksHaveTheBitsOfACausalPrefill) {
  using T = TypeParam;
  Problem<T> p = random_problem(Problem<T>{.l = 70, .s = 70, .e = 40}, 8);
  p.causal = true;
  const auto y = run(p);
  for (std::int64_t first : {1, 16, 37, 65}) {
    Problem<T> chunk = p;
    chunk.causal = false;
    chunk.l = p.l - first;
    chunk.q = slice(p.q, first * p.e, chunk.l * p.e);
    for (std::int64_t i = 0; i < chunk.l; ++i) {
      for (std::int64_t j = 0; j < p.s; ++j) chunk.seen.push_back(j <= first + i);
    }
    EXPECT_TRUE(same_bits(run(chunk), slice(y, first * p.e, chunk.l * p.e))) << first;
  }
}

TYPED_TEST(Attention, PaddedKeysChangeNoBitWhateverTheyHold) {
  using T = TypeParam;
  const Problem<T> p = random_problem(Problem<T>{.l = 6, .s = 51, .e = 19}, 9);
  const T infinity = narrow<T>(std::numeric_limits<Acc<T>>::infinity());
  for (const T filler : {narrow<T>(0), strange_nan<T>(), infinity}) {
    for (std::int64_t padding : {1, 13, 80}) {
      Problem<T> longer = p;
      longer.s += padding;
      longer.k.resize(longer.s * p.e, filler);
      longer.v.resize(longer.s * p.e, filler);
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

/// One output and how far an honest implementation may be from it.
struct Exact {
  long double value;
  double bound;
};

template <class T>
Exact exact(const Problem<T>& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c) {
  std::vector<long double> z(p.s, -INFINITY), size(p.s, 0);
  const std::int64_t key_head = h / (p.heads / p.key_heads);
  for (std::int64_t j = 0; j < (p.causal ? i + 1 : p.s); ++j) {
    if (!p.seen.empty() && !p.seen[(b * p.l + i) * p.s + j]) continue;
    z[j] = 0;
    for (std::int64_t e = 0; e < p.e; ++e) {
      const long double term =
          0.125L * widen(p.q[p.row(b, h, i) + e]) * widen(p.k[p.key(b, key_head, j) + e]);
      z[j] += term, size[j] += std::abs(term);
    }
    if (!p.added.empty()) z[j] += p.added[(b * p.l + i) * p.s + j];
  }
  const long double max = *std::max_element(z.begin(), z.end());
  const long double unit = std::is_same_v<T, double> ? 0x1p-53L : 0x1p-24L;
  long double sum = 0, value = 0, wrong = 0, sizes = 0, sum_wrong = 0;
  for (std::int64_t j = 0; j < p.s; ++j) {
    const long double w = std::exp(z[j] - max), v = widen(p.v[p.key(b, key_head, j) + c]);
    if (w == 0) continue;
    const long double relative = unit * ((p.e + 4) * size[j] + 3 * std::abs(z[j] - max) + 10);
    sum += w, value += w * v, sizes += w * std::abs(v);
    wrong += w * std::abs(v) * relative, sum_wrong += w * relative;
  }
  const long double y = value / sum, units = unit * static_cast<long double>(p.s + 4);
  const long double off = (wrong + units * sizes + std::abs(y) * (sum_wrong + units * sum)) / sum;
  return {y, static_cast<double>(off * 1.01L)};
}

TYPED_TEST(Attention, ErrorStaysWithinItsBoundOnEveryTarget) {
  using T = TypeParam;
  for (const std::int64_t target : targets()) {
    const OnTarget on(target);
    for (const Problem<T>& p : problems<T>()) {
      const auto y = run(p);
      for (std::int64_t n = 0; n < static_cast<std::int64_t>(y.size()); n += 37) {
        const std::int64_t row = n / p.e;
        const Exact e = exact(p, row / p.l / p.heads, row / p.l % p.heads, row % p.l, n % p.e);
        const double got = widen(y[n]);
        EXPECT_LE(std::abs(static_cast<double>(got - e.value)), e.bound + half_ulp<T>(got) * 1.01)
            << n;
      }
    }
  }
}

TYPED_TEST(Attention, NanIsCanonicalAndARowThatSeesNoKeyIsZero) {
  using T = TypeParam;
  Problem<T> p = random_problem(Problem<T>{.l = 5, .s = 20, .e = 18}, 11);
  hide_some(p, 3);
  const auto clean = run(p);
  p.q[1 * p.e + 3] = strange_nan<T>();
  std::fill_n(p.seen.begin() + 2 * p.s, p.s, 0);
  const auto y = run(p);
  for (std::int64_t c = 0; c < p.e; ++c) {
    EXPECT_EQ(bits_of(y[p.e + c]), canonical_nan_bits<T>());
    EXPECT_EQ(bits_of(y[2 * p.e + c]), 0u);
  }
  EXPECT_TRUE(same_bits(slice(y, 3 * p.e, 2 * p.e), slice(clean, 3 * p.e, 2 * p.e)));
}

TYPED_TEST(Attention, SmallWorkStaysOnOneThreadAndLargeWorkDoesNot) {
  using T = TypeParam;
  TaskCounter small, large;
  run(random_problem(Problem<T>{.l = 8, .s = 30, .e = 16}, 1), small.parallel());
  run(random_problem(Problem<T>{.batch = 8, .heads = 2, .key_heads = 2, .l = 40, .s = 64, .e = 32},
                     1),
      large.parallel());
  EXPECT_EQ(small.most, 0);
  EXPECT_GE(large.most, 16);
}

}  // namespace
}  // namespace bic::cpu

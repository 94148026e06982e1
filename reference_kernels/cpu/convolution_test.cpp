#include "reference_kernels/cpu/convolution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference_kernels/cpu/gemm.h"
#include "reference_kernels/cpu/kernel_testing.h"
#include "reference_kernels/cpu/naive.h"

namespace bic::cpu {
namespace {

using namespace testing;  // NOLINT: the test's own vocabulary

struct Geometry {
  std::int64_t groups, channels, n;
  ConvolutionAxis h, w;
};

ConvolutionAxis axis(std::int64_t in,
                     std::int64_t taps,
                     std::int64_t stride = 1,
                     std::int64_t padding = 0,
                     std::int64_t dilation = 1) {
  const std::int64_t out = (in + 2 * padding - dilation * (taps - 1) - 1) / stride + 1;
  return {in, taps, out, stride, padding, dilation};
}

const Geometry kGeometries[] = {{1, 5, 7, axis(6, 3), axis(9, 3)},
                                {1, 3, 4, axis(28, 14, 14), axis(42, 14, 14)},
                                {2, 4, 3, axis(5, 3, 1, 1), axis(7, 2, 2, 3)},
                                {1, 2, 9, axis(9, 3, 2, 1, 2), axis(8, 4, 3, 0, 2)},
                                {6, 1, 1, axis(1, 1), axis(150, 5, 1, 4)},
                                {1, 33, 40, axis(30, 1), axis(31, 1)},
                                {1, 7, 3, axis(3, 3), axis(2, 2)},            // images side by side
                                {1, 70, 2, axis(64, 3, 1, 1), axis(64, 2)}};  // bands of rows

template <class T>
struct Problem {
  Geometry geometry;
  std::int64_t batch;
  std::vector<T> x, filters, bias;

  Problem(const Geometry& g, std::int64_t batch) : geometry(g), batch(batch) {
    x = random_values<T>(batch * image(), 1);
    filters = random_values<T>(g.groups * g.n * terms(), 2);
    bias = random_values<T>(g.groups * g.n, 3);
  }
  std::int64_t image() const {
    return geometry.groups * geometry.channels * geometry.h.in * geometry.w.in;
  }
  std::int64_t terms() const { return geometry.channels * geometry.h.taps * geometry.w.taps; }
  std::int64_t outputs() const {
    return geometry.groups * geometry.n * geometry.h.out * geometry.w.out;
  }
};

/// Images first .. first + count, from memory with channels last if so asked.
template <class T>
std::vector<T> run(const Problem<T>& p,
                   std::int64_t first,
                   std::int64_t count,
                   bool last = false,
                   const ParallelFor& parallel = serial) {
  const Geometry& g = p.geometry;
  const std::int64_t channels = g.groups * g.channels, area = g.h.in * g.w.in;
  std::vector<T> x(p.x.begin() + first * p.image(), p.x.begin() + (first + count) * p.image());
  if (last) {
    for (std::int64_t i = 0; i < count * p.image(); ++i) {
      const std::int64_t image = i / p.image() * p.image(), at = i % p.image();
      x[image + at % area * channels + at / area] = p.x[first * p.image() + i];
    }
  }
  Guarded<T> y(count * p.outputs(), 1);
  ConvolutionArgs<T> args{x.data(), p.filters.data(), p.bias.data(), y.data()};
  args.batch = count, args.groups = g.groups, args.channels = g.channels, args.n = g.n;
  args.h = g.h, args.w = g.w;
  args.x_batch = p.image(), args.x_channel = last ? 1 : area;
  args.x_w = last ? channels : 1, args.x_h = g.w.in * args.x_w;
  convolution(args, parallel);
  EXPECT_EQ(bits_of(y.data()[count * p.outputs()]), bits_of(y.guard()));
  return {y.data(), y.data() + count * p.outputs()};
}

/// What output `o` of an image sees, zeros beside it.
template <class T>
std::vector<T> seen(const Problem<T>& p, std::int64_t image, std::int64_t o) {
  const Geometry& g = p.geometry;
  const std::int64_t filter = o / (g.h.out * g.w.out), i = o / g.w.out % g.h.out, j = o % g.w.out;
  std::vector<T> values;
  for (std::int64_t t = 0; t < p.terms(); ++t) {
    const std::int64_t c = filter / g.n * g.channels + t / (g.h.taps * g.w.taps);
    const std::int64_t y = i * g.h.stride - g.h.padding + t / g.w.taps % g.h.taps * g.h.dilation;
    const std::int64_t x = j * g.w.stride - g.w.padding + t % g.w.taps * g.w.dilation;
    const bool inside = y >= 0 && y < g.h.in && x >= 0 && x < g.w.in;
    values.push_back(inside ? p.x[image * p.image() + (c * g.h.in + y) * g.w.in + x]
                            : narrow<T>(0));
  }
  return values;
}

template <class T>
class Convolution : public ::testing::Test {};
TYPED_TEST_SUITE(Convolution, Dtypes, DtypeName);

/// y on every target with fused multiply-add, which all must give the same.
template <class T>
std::vector<T> run_on_targets(const Problem<T>& p, std::int64_t count) {
  const std::vector<T> y = run(p, 0, count);
  for (const std::int64_t target : targets()) {
    if (!fuses(target)) continue;
    const OnTarget on(target);
    EXPECT_TRUE(same_bits(run(p, 0, count), y)) << hwy::TargetName(target);
  }
  return y;
}

TYPED_TEST(Convolution, HasTheBitsOfGemmOnWhatAnOutputSees) {
  for (const Geometry& g : kGeometries) {
    const Problem<TypeParam> p(g, 2);
    const auto y = run_on_targets(p, 2);
    for (std::int64_t o = 0; o < 2 * p.outputs(); o += 1 + p.outputs() / 97) {
      const std::int64_t at = o % p.outputs(), filter = at / (g.h.out * g.w.out);
      const std::vector<TypeParam> w(p.filters.begin() + filter * p.terms(),
                                     p.filters.begin() + (filter + 1) * p.terms());
      EXPECT_EQ(bits_of(y[o]),
                bits_of(naive::dot(seen(p, o / p.outputs(), at), w, &p.bias[filter])))
          << o;
    }
  }
}

TEST(ConvolutionOfBf16, TakesSubnormalsForZeroWhereGemmDoes) {
  using T = hwy::bfloat16_t;
  const auto scaled = [](T x, int exponent) { return narrow<T>(std::ldexp(widen(x), exponent)); };
  for (const Geometry& g : {kGeometries[0], kGeometries[5]}) {  // few filters and many
    Problem<T> p(g, 1);
    const std::int64_t area = g.h.in * g.w.in, taps = g.h.taps * g.w.taps;
    for (std::size_t i = 0; i < p.x.size(); ++i) {
      p.x[i] = scaled(p.x[i], i / area % 2 == 0 ? -130 : -64);
    }
    for (std::size_t i = 0; i < p.filters.size(); ++i) {
      p.filters[i] = scaled(p.filters[i], i / taps % g.channels % 2 == 0 ? 5 : -64);
    }
    p.bias.assign(p.bias.size(), T());
    const auto y = run(p, 0, 1);
    int differ = 0;
    for (std::int64_t o = 0; o < p.outputs(); o += 1 + p.outputs() / 97) {
      const std::int64_t first = o / (g.h.out * g.w.out) * p.terms();
      const std::vector<T> w(p.filters.begin() + first, p.filters.begin() + first + p.terms());
      const T kept = naive::dot<T>(seen(p, 0, o), w, nullptr),
              flushed = naive::dot<T>(seen(p, 0, o), w, nullptr, true);
      EXPECT_EQ(bits_of(y[o]), bits_of(gemm_flushes_bf16() ? flushed : kept)) << o;
      differ += bits_of(kept) != bits_of(flushed);
    }
    EXPECT_GE(differ, 20) << "else the values cannot tell";
  }
}

TYPED_TEST(Convolution, ImageKeepsItsBitsInAnyBatchLayoutAndTeam) {
  for (const Geometry& g : kGeometries) {
    const Problem<TypeParam> p(g, 21);
    const auto all = run(p, 0, 21, false, odd_threads);
    EXPECT_TRUE(same_bits(run(p, 0, 21, true, one_by_one), all));
    for (const std::int64_t i : {0, 10, 20}) {
      const std::vector<TypeParam> one(all.begin() + i * p.outputs(),
                                       all.begin() + (i + 1) * p.outputs());
      EXPECT_TRUE(same_bits(run(p, i, 1), one)) << i;
      EXPECT_TRUE(same_bits(run(p, i, 1, true, odd_threads), one)) << i;
    }
  }
}

TYPED_TEST(Convolution, NanIsCanonicalAndStaysInItsImage) {
  Problem<TypeParam> p(kGeometries[0], 3);
  const auto clean = run(p, 0, 3);
  for (std::int64_t i = 0; i < p.image(); ++i) p.x[p.image() + i] = strange_nan<TypeParam>();
  const auto y = run(p, 0, 3);
  for (std::int64_t o = 0; o < 3 * p.outputs(); ++o) {
    EXPECT_EQ(bits_of(y[o]),
              o / p.outputs() == 1 ? canonical_nan_bits<TypeParam>() : bits_of(clean[o]));
  }
}

}  // namespace
}  // namespace bic::cpu

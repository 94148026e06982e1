#include "reference_kernels/cuda/convolution.h"

#include <algorithm>
#include <cmath>

#include "reference_kernels/cuda/cuda_testing.h"
#include "reference_kernels/cuda/gemm.h"

namespace bic::cuda {
namespace {

using namespace testing;       // NOLINT: test
using namespace cpu::testing;  // NOLINT: test
using cpu::ConvolutionAxis;

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
                                {1, 3, 40, axis(28, 14, 14), axis(42, 14, 14)},
                                {2, 4, 3, axis(5, 3, 1, 1), axis(7, 2, 2, 3)},
                                {1, 2, 9, axis(9, 3, 2, 1, 2), axis(8, 4, 3, 0, 2)},
                                {6, 1, 1, axis(1, 1), axis(150, 5, 1, 4)},
                                {1, 33, 40, axis(30, 1), axis(31, 1)},
                                {1, 70, 2, axis(24, 3, 1, 1), axis(17, 2)}};

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
  std::int64_t area() const { return geometry.h.out * geometry.w.out; }
  std::int64_t plane() const { return geometry.h.in * geometry.w.in; }
  std::int64_t image() const { return geometry.groups * geometry.channels * plane(); }
  std::int64_t terms() const { return geometry.channels * geometry.h.taps * geometry.w.taps; }
  std::int64_t outputs() const { return geometry.groups * geometry.n * area(); }
};

/// Images first .. first + count, from memory with channels last if so asked.
template <class T>
std::vector<T> run(const Problem<T>& p, std::int64_t first, std::int64_t count, bool last = false) {
  const Geometry& g = p.geometry;
  const std::int64_t channels = g.groups * g.channels, area = p.plane();
  std::vector<T> x(p.x.begin() + first * p.image(), p.x.begin() + (first + count) * p.image());
  for (std::int64_t i = 0; last && i < count * p.image(); ++i) {
    const std::int64_t image = i / p.image() * p.image(), at = i % p.image();
    x[image + at % area * channels + at / area] = p.x[first * p.image() + i];
  }
  const DeviceArray<T> images(x, last), filters(p.filters, last), bias(p.bias);
  const DeviceArray<T> y(std::vector<T>(count * p.outputs() + 1, Guarded<T>::guard()), last);
  cpu::ConvolutionArgs<T> args{images.data(), filters.data(), bias.data(), y.data()};
  args.batch = count, args.groups = g.groups, args.channels = g.channels, args.n = g.n;
  args.h = g.h, args.w = g.w;
  args.x_batch = p.image(), args.x_channel = last ? 1 : area;
  args.x_w = last ? channels : 1, args.x_h = g.w.in * args.x_w;
  const TestLaunch launch;
  convolution(args, launch.get());
  std::vector<T> all = y.values();
  EXPECT_EQ(bits_of(all.back()), bits_of(Guarded<T>::guard()));
  all.pop_back();
  return all;
}

/// What output (group, position) of an image sees, zeros beside it.
template <class T>
std::vector<T> seen(const Problem<T>& p, std::int64_t image, std::int64_t group, std::int64_t at) {
  const Geometry& g = p.geometry;
  std::vector<T> values;
  for (std::int64_t t = 0; t < p.terms(); ++t) {
    const std::int64_t c = group * g.channels + t / (g.h.taps * g.w.taps);
    const std::int64_t i =
        at / g.w.out * g.h.stride - g.h.padding + t / g.w.taps % g.h.taps * g.h.dilation;
    const std::int64_t j = at % g.w.out * g.w.stride - g.w.padding + t % g.w.taps * g.w.dilation;
    const bool inside = i >= 0 && i < g.h.in && j >= 0 && j < g.w.in;
    values.push_back(inside ? p.x[image * p.image() + (c * g.h.in + i) * g.w.in + j]
                            : narrow<T>(0));
  }
  return values;
}

/// The filters of a group with what its outputs see, by gemm.
template <class T>
std::vector<T> by_gemm(const Problem<T>& p, std::int64_t image, std::int64_t group) {
  std::vector<T> windows;
  for (std::int64_t at = 0; at < p.area(); ++at) {
    const auto one = seen(p, image, group, at);
    windows.insert(windows.end(), one.begin(), one.end());
  }
  const std::int64_t n = p.geometry.n, k = p.terms();
  const DeviceArray<T> w(windows), filters(p.filters), bias(p.bias),
      y(std::vector<T>(n * p.area()));
  cpu::GemmArgs<T> g{filters.data() + group * n * k, w.data(), bias.data() + group * n, y.data()};
  g.m = n, g.n = p.area(), g.k = k;
  g.a_row = k, g.w_n = k, g.y_row = g.n;
  g.bias_row = 1, g.bias_n = 0;
  const TestLaunch launch;
  gemm(g, launch.get());
  return y.values();
}

template <class T>
std::vector<T> part(const std::vector<T>& x, std::int64_t size, std::int64_t i) {
  return {x.begin() + i * size, x.begin() + (i + 1) * size};
}

template <class T>
class Convolution : public OnDeviceTest {};
TYPED_TEST_SUITE(Convolution, Dtypes, DtypeName);

TYPED_TEST(Convolution, HasTheBitsOfGemmOnWhatAnOutputSees) {
  for (const Geometry& g : kGeometries) {
    const Problem<TypeParam> p(g, 2);
    const auto y = run(p, 0, 2);
    for (std::int64_t i = 0; i < 2 * g.groups; ++i) {
      EXPECT_TRUE(same_bits(part(y, g.n * p.area(), i), by_gemm(p, i / g.groups, i % g.groups)))
          << i << " of " << p.terms() << " terms";
    }
  }
}

TYPED_TEST(Convolution, ErrorStaysWithinItsBound) {
  using T = TypeParam;
  for (const Geometry& g : kGeometries) {
    const Problem<T> p(g, 1);
    const auto y = run(p, 0, 1);
    for (std::int64_t o = 0; o < p.outputs(); o += 1 + p.outputs() / 97) {
      const std::int64_t filter = o / p.area();
      const auto window = seen(p, 0, filter / g.n, o % p.area());
      long double sum = widen(p.bias[filter]), size = std::abs(sum);
      for (std::int64_t k = 0; k < p.terms(); ++k) {
        const long double term = 1.0L * widen(window[k]) * widen(p.filters[filter * p.terms() + k]);
        sum += term, size += std::abs(term);
      }
      // 2^-23: tensor cores truncate.
      const long double unit = std::is_same_v<T, double> ? 0x1p-53L : 0x1p-23L;
      const double got = widen(y[o]), off = std::abs(static_cast<double>(got - sum));
      const auto bound = static_cast<double>(unit * static_cast<long double>(p.terms() + 3) * size);
      EXPECT_LE(off, bound + half_ulp<T>(got) * 1.01) << o;
    }
  }
}

TYPED_TEST(Convolution, ImageKeepsItsBitsInAnyBatchAndLayout) {
  for (const Geometry& g : kGeometries) {
    const Problem<TypeParam> p(g, 21);
    const auto all = run(p, 0, 21);
    EXPECT_TRUE(same_bits(run(p, 0, 21, true), all));
    for (const std::int64_t i : {0, 10, 20}) {
      EXPECT_TRUE(same_bits(run(p, i, 1), part(all, p.outputs(), i))) << i;
      EXPECT_TRUE(same_bits(run(p, i, 1, true), part(all, p.outputs(), i))) << i;
    }
  }
}

TYPED_TEST(Convolution, ZeroChannelsChangeNoBit) {
  for (const std::int64_t zeros : {1, 8, 61}) {
    const Problem<TypeParam> p({1, 23, 5, axis(6, 3), axis(9, 2)}, 3);
    Problem<TypeParam> padded({1, 23 + zeros, 5, axis(6, 3), axis(9, 2)}, 3);
    std::fill(padded.x.begin(), padded.x.end(), narrow<TypeParam>(0));
    std::fill(padded.filters.begin(), padded.filters.end(), narrow<TypeParam>(0));
    for (std::int64_t i = 0; i < 3; ++i) {
      std::copy_n(p.x.begin() + i * p.image(), p.image(), padded.x.begin() + i * padded.image());
    }
    for (std::int64_t i = 0; i < 5; ++i) {
      std::copy_n(p.filters.begin() + i * p.terms(),
                  p.terms(),
                  padded.filters.begin() + i * padded.terms());
    }
    EXPECT_TRUE(same_bits(run(padded, 0, 3), run(p, 0, 3)));
  }
}

TYPED_TEST(Convolution, PiecesOfTheBatchChangeNoBit) {
  const Problem<TypeParam> p({1, 64, 3, axis(96, 3, 1, 1), axis(96, 3, 1, 1)}, 29);
  const auto all = run(p, 0, 29);  // 10 MiB an image or more: at least two pieces
  for (const std::int64_t i : {0, 12, 13, 25, 28}) {
    EXPECT_TRUE(same_bits(run(p, i, 1), part(all, p.outputs(), i))) << i;
  }
}

TYPED_TEST(Convolution, PiecesOfAnImageChangeNoBit) {
  // The image in the midst of 700 MiB of zeros or more.
  const std::int64_t in = 5, padding = 400;
  const Problem<TypeParam> p({1, 64, 2, axis(in, 3, 1, padding), axis(in, 3, 1, padding)}, 1);
  const Problem<TypeParam> small({1, 64, 2, axis(in, 3, 1, 2), axis(in, 3, 1, 2)}, 1);
  const auto y = run(p, 0, 1), expected = run(small, 0, 1);
  const std::int64_t out = p.geometry.w.out, skip = padding - 2;
  for (std::int64_t o = 0; o < p.outputs(); ++o) {
    const std::int64_t i = o / out % out - skip, j = o % out - skip, filter = o / p.area();
    const bool sees = i >= 0 && i < in + 2 && j >= 0 && j < in + 2;
    const TypeParam wanted =
        sees ? expected[(filter * (in + 2) + i) * (in + 2) + j] : p.bias[filter];
    ASSERT_EQ(bits_of(y[o]), bits_of(wanted)) << o;
  }
}

TYPED_TEST(Convolution, NanIsThatOfGemmAndStaysInItsImage) {
  const std::uint64_t nan = sizeof(TypeParam) == 2 ? 0x7FFF : canonical_nan_bits<TypeParam>();
  Problem<TypeParam> p(kGeometries[0], 3);
  const auto clean = run(p, 0, 3);
  std::fill_n(p.x.begin() + p.image(), p.image(), strange_nan<TypeParam>());
  const auto y = run(p, 0, 3);
  for (std::int64_t o = 0; o < 3 * p.outputs(); ++o) {
    EXPECT_EQ(bits_of(y[o]), o / p.outputs() == 1 ? nan : bits_of(clean[o]));
  }
}

}  // namespace
}  // namespace bic::cuda

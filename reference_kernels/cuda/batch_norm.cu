#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference_kernels/cuda/batch_norm.h"
#include "reference_kernels/cuda/map.cuh"
#include "reference_kernels/cuda/rounded.cuh"

namespace bic::cuda {
namespace {

/// What is done to the elements of a channel.
template <class A>
struct alignas(16) Channel {
  A mean, scale, bias, none;
};

template <class A, class E>
__global__ void read_channels(const E* mean,
                              const E* variance,
                              const E* weight,
                              const E* bias,
                              std::int64_t channels,
                              A eps,
                              Channel<A>* to) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t c = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; c < channels;
       c += step) {
    const A rstd = reciprocal_root(add(load(variance[c]), eps));
    to[c] = {load(mean[c]),
             weight == nullptr ? rstd : mul(rstd, load(weight[c])),
             bias == nullptr ? A(0) : load(bias[c]),
             A(0)};
  }
}

/// Quotients n / d, n < 2^31, 1 <= d < 2^31, without a division: Granlund and Montgomery, Division
/// by Invariant Integers using Multiplication (1994), figure 4.1.
class Quotients {
 public:
  explicit Quotients(std::uint32_t d)
      : shift_(std::bit_width(d - 1)),
        factor_(static_cast<std::uint32_t>(
            (std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift_) - d) / d + 1)) {}

  __device__ std::uint32_t operator()(std::uint32_t n) const {
    return (__umulhi(n, factor_) + n) >> shift_;
  }

 private:
  int shift_;
  std::uint32_t factor_;
};

/// Of more elements.
class WideQuotients {
 public:
  explicit WideQuotients(std::int64_t d) : d_(d) {}
  __device__ std::int64_t operator()(std::int64_t n) const { return n / d_; }

 private:
  std::int64_t d_;
};

template <class Division, class A>
struct Normalise {
  using Index =
      std::conditional_t<std::is_same_v<Division, Quotients>, std::uint32_t, std::int64_t>;

  const Channel<A>* channels;
  Index count;
  Division by_inner, by_count;

  Normalise(const Channel<A>* channels, std::int64_t count, std::int64_t inner)
      : channels(channels),
        count(static_cast<Index>(count)),
        by_inner(static_cast<Index>(inner)),
        by_count(static_cast<Index>(count)) {}

  __device__ A operator()(std::int64_t i, A x) const {
    const Index row = by_inner(static_cast<Index>(i));
    const Channel<A> c = channels[row - by_count(row) * count];
    return fma(sub(x, c.mean), c.scale, c.bias);
  }
};

template <class Division, class A, class E>
void normalise(const cpu::BatchNormArgs<E>& g, const Channel<A>* channels, const Launch& launch) {
  const Normalise<Division, A> f(channels, g.channels, g.inner);
  const std::int64_t n = g.outer * g.channels * g.inner;
  // Neighbours of short channels look up neighbouring channels.
  if (g.inner < kVector<E>) {
    map_neighbours(launch, "batch_norm", f, n, g.y, g.x);
  } else {
    map(launch, "batch_norm", f, n, g.y, g.x);
  }
}

}  // namespace

template <class T>
void batch_norm(const cpu::BatchNormArgs<T>& g, const Launch& launch) {
  using E = Element<T>;
  using A = Accumulator<E>;
  const std::int64_t n = g.outer * g.channels * g.inner;
  if (n <= 0) return;
  auto* const channels = static_cast<Channel<A>*>(launch.scratch(g.channels * sizeof(Channel<A>)));
  constexpr int kThreads = 128, kMostBlocks = 1024;
  const auto blocks = std::min<std::int64_t>((g.channels + kThreads - 1) / kThreads, kMostBlocks);
  read_channels<<<static_cast<unsigned>(blocks), kThreads, 0, launch.stream>>>(
      device_input(g.mean),
      device_input(g.variance),
      device_input(g.weight),
      device_input(g.bias),
      g.channels,
      static_cast<A>(g.eps),
      channels);
  check_launch("batch_norm");
  cpu::BatchNormArgs<E> d;
  d.x = device_input(g.x), d.y = device_output(g.y);
  d.outer = g.outer, d.channels = g.channels, d.inner = g.inner;
  // The last tile looks up elements beyond n.
  if (n <= std::numeric_limits<std::int32_t>::max() - kMapTile<E>) {
    normalise<Quotients>(d, channels, launch);
  } else {
    normalise<WideQuotients>(d, channels, launch);
  }
}

template void batch_norm(const cpu::BatchNormArgs<float>&, const Launch&);
template void batch_norm(const cpu::BatchNormArgs<double>&, const Launch&);
template void batch_norm(const cpu::BatchNormArgs<hwy::bfloat16_t>&, const Launch&);
template void batch_norm(const cpu::BatchNormArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

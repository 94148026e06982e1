#include "reference_kernels/cuda/map.cuh"
#include "reference_kernels/cuda/pointwise.h"
#include "reference_kernels/cuda/rounded.cuh"

namespace bic::cuda {
namespace {

/// exp(x) = exp(x + kHigh) (1 + kLow) kScale with an exact sum for x in (2 kFar, kFar]. Above kFar
/// exp(-x) is finite; from 2 kFar on x exp(x) is 0.
template <class A>
struct Far;
template <>
struct Far<float> {
  static constexpr float kFar = -64, kHigh = 0x1.62e43p5f, kLow = -0x1.05c610p-23f,
                         kScale = 0x1p-64f;
};
template <>
struct Far<double> {
  static constexpr double kFar = -512, kHigh = 0x1.62e42fefa39fp8, kLow = -0x1.950d871319ff0p-45,
                          kScale = 0x1p-512;
};

struct Sigmoid {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    const bool far = x <= Far<A>::kFar;  // where 1 + exp(-x) is exp(-x), and may overflow
    const A e = ::exp(far ? x : -x);
    return far ? e : div(A(1), add(A(1), e));
  }
};

struct Silu {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    using F = Far<A>;
    const bool far = x <= F::kFar;
    const A e = ::exp(far ? add(x, F::kHigh) : -x);
    // A denormal result is rounded once, by the product with the power of two.
    return far ? mul(mul(x, fma(e, F::kLow, e)), F::kScale) : div(x, add(A(1), e));
  }
};

struct Tanh {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    return ::tanh(x);
  }
};

struct Exp {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    return ::exp(x);
  }
};

struct Log {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    return ::log(x);
  }
};

struct Rsqrt {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    return reciprocal_root(x);
  }
};

struct Sin {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    return ::sin(x);
  }
};

struct Cos {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    return ::cos(x);
  }
};

struct Square {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    return mul(x, x);
  }
};

struct Cube {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    return mul(mul(x, x), x);
  }
};

struct Power {
  template <class A>
  __device__ A operator()(std::int64_t, A x, A e) const {
    return ::pow(x, e);
  }
};

template <class A>
struct PowerOfAll {
  A exponent;
  __device__ A operator()(std::int64_t, A x) const { return ::pow(x, exponent); }
};

template <class A>
struct ScaledSum {
  A alpha;
  __device__ A operator()(std::int64_t, A x, A other) const { return fma(alpha, other, x); }
};

}  // namespace

template <class T>
void pointwise(const cpu::PointwiseArgs<T>& a, const Launch& launch) {
  using cpu::PointwiseFunction;
  const auto apply = [&](auto f) {
    map(launch, "pointwise", f, a.n, device_output(a.y), device_input(a.x));
  };
  switch (a.function) {
    case PointwiseFunction::kSilu:
      return apply(Silu());
    case PointwiseFunction::kSigmoid:
      return apply(Sigmoid());
    case PointwiseFunction::kTanh:
      return apply(Tanh());
    case PointwiseFunction::kExp:
      return apply(Exp());
    case PointwiseFunction::kLog:
      return apply(Log());
    case PointwiseFunction::kRsqrt:
      return apply(Rsqrt());
    case PointwiseFunction::kSin:
      return apply(Sin());
    case PointwiseFunction::kCos:
      return apply(Cos());
  }
}

template <class T>
void power(const cpu::PowerArgs<T>& a, const Launch& launch) {
  const auto apply = [&](auto f, auto... exponents) {
    map(launch, "power", f, a.n, device_output(a.y), device_input(a.x), exponents...);
  };
  if (a.exponents != nullptr) return apply(Power(), device_input(a.exponents));
  if (a.exponent == 2) return apply(Square());
  if (a.exponent == 3) return apply(Cube());
  using A = Accumulator<Element<T>>;
  apply(PowerOfAll<A>{static_cast<A>(a.exponent)});
}

template <class T>
void scaled_sum(const cpu::ScaledSumArgs<T>& a, const Launch& launch) {
  using A = Accumulator<Element<T>>;
  map(launch,
      "scaled_sum",
      ScaledSum<A>{static_cast<A>(a.alpha)},
      a.n,
      device_output(a.y),
      device_input(a.x),
      device_input(a.other));
}

template void pointwise(const cpu::PointwiseArgs<float>&, const Launch&);
template void pointwise(const cpu::PointwiseArgs<double>&, const Launch&);
template void pointwise(const cpu::PointwiseArgs<hwy::bfloat16_t>&, const Launch&);
template void pointwise(const cpu::PointwiseArgs<hwy::float16_t>&, const Launch&);
template void power(const cpu::PowerArgs<float>&, const Launch&);
template void power(const cpu::PowerArgs<double>&, const Launch&);
template void power(const cpu::PowerArgs<hwy::bfloat16_t>&, const Launch&);
template void power(const cpu::PowerArgs<hwy::float16_t>&, const Launch&);
template void scaled_sum(const cpu::ScaledSumArgs<float>&, const Launch&);
template void scaled_sum(const cpu::ScaledSumArgs<double>&, const Launch&);
template void scaled_sum(const cpu::ScaledSumArgs<hwy::bfloat16_t>&, const Launch&);
template void scaled_sum(const cpu::ScaledSumArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

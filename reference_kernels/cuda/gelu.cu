#include "reference_kernels/cpu/coefficients.h"
#include "reference_kernels/cuda/gelu.h"
#include "reference_kernels/cuda/map.cuh"
#include "reference_kernels/cuda/rounded.cuh"

namespace bic::cuda {
namespace {

template <class A>
using Constants = cpu::Coefficients<A>;

/// A number as an unevaluated sum; lo is far below hi.
template <class A>
struct TwoPart {
  A hi, lo;
};

template <class A>
__device__ TwoPart<A> product(A a, A b) {
  const A p = mul(a, b);
  return {p, fma(a, b, -p)};
}

/// c[i] + c[i + 1] x + ...
template <const auto& kC, int kFirst = 0, class A>
__device__ A horner(A x) {
  constexpr A c = kC[kFirst];  // arrays of the host are no arrays of the device
  if constexpr (kFirst + 1 == sizeof(kC) / sizeof(A)) {
    return c;
  } else {
    return fma(horner<kC, kFirst + 1>(x), x, c);
  }
}

/// 2^n, n within the exponents of normal numbers.
__device__ inline float power_of_two(float, int n) { return __int_as_float((n + 127) << 23); }
__device__ inline double power_of_two(double, int n) {
  return __hiloint2double((n + 1023) << 20, 0);
}

/// x rounded to an integer; |x| < 2^21. Beside 1.5 * 2^(mantissa bits), whole numbers are
/// neighbours.
__device__ inline int nearest(float x, float& n) {
  constexpr float kWhole = 0x1.8p23f;
  const float shifted = add(x, kWhole);
  n = sub(shifted, kWhole);
  return __float_as_int(shifted) - __float_as_int(kWhole);
}
__device__ inline int nearest(double x, double& n) {
  constexpr double kWhole = 0x1.8p52;
  const double shifted = add(x, kWhole);
  n = sub(shifted, kWhole);
  return __double2loint(shifted);
}

/// exp of something as value * 2^exponent, with value in [0.7, 1.42).
template <class A>
struct Scaled {
  A value;
  int exponent;
};

/// exp(x.hi + x.lo), |x.hi| < 1000 (float: 200). 1 + (r + r^2 Q(r)) with r = x - n ln 2: n ln2_hi
/// is exact.
template <class A>
__device__ Scaled<A> exp_scaled(TwoPart<A> x) {
  using C = Constants<A>;
  A n;
  const int exponent = nearest(mul(x.hi, C::kLog2E), n);
  const A r = add(fma(-n, C::kLn2Lo, fma(-n, C::kLn2Hi, x.hi)), x.lo);
  const A p = fma(mul(r, r), horner<C::kExp>(r), r);
  return {add(p, A(1)), exponent};
}

/// v * 2^n for n <= 1, n > -220 (double: -1400): a denormal result is rounded once, by the second
/// product.
template <class A>
__device__ A scale(A v, int n) {
  constexpr int kLift = sizeof(A) == 8 ? 600 : 100;
  return mul(mul(v, power_of_two(v, n + kLift)), power_of_two(v, -kLift));
}

/// NaN where x is that or -Inf, whose product with 0 is NaN; else y.
template <class A>
__device__ A or_nan(A x, A y) {
  return x > -A(INFINITY) ? y : sub(x, x);
}

/// x Phi(x). With t = |x|: Phi(-t) = exp(-t^2 / 2) P(m) / (t + s), m = (t - s) / (t + s), and
/// Phi(t) = 1 - Phi(-t), which loses nothing. The square is kept in two parts: its rounding error
/// would be a relative error of the exponential.
struct Erf {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    using C = Constants<A>;
    const A t = fmin(fabs(x), C::kPhiMax);
    const TwoPart<A> square = product(t, t);
    const auto e = exp_scaled<A>({mul(square.hi, A(-0.5)), mul(square.lo, A(-0.5))});
    const A sum = add(t, C::kPhiShift);
    const A m = div(sub(t, C::kPhiShift), sum);
    const A q = div(mul(e.value, horner<C::kPhi>(m)), sum);
    const bool negative = x < 0;
    const A scaled = scale(negative ? mul(-t, q) : q, e.exponent);
    return or_nan(x, negative ? scaled : mul(x, sub(A(1), scaled)));
  }
};

/// 2 sqrt(2 / pi) (t + 0.044715 t^3) for t >= 0, in two parts.
template <class A>
__device__ TwoPart<A> tanh_argument(A t) {
  using C = Constants<A>;
  const TwoPart<A> square = product(t, t);
  const TwoPart<A> cubic = product(A(C::kTanh3), square.hi);
  const A sum = add(C::kTanh1, cubic.hi);
  // Knuth's TwoSum: either term may be the larger.
  const A part = sub(sum, C::kTanh1);
  const A rest = add(sub(C::kTanh1, sub(sum, part)), sub(cubic.hi, part));
  A low = add(rest, add(cubic.lo, C::kTanh1Lo));
  low = fma(C::kTanh3, square.lo, fma(C::kTanh3Lo, square.hi, low));
  const TwoPart<A> u = product(t, sum);
  return {u.hi, fma(t, low, u.lo)};
}

/// x / 2 (1 + tanh(u)) = x / (1 + exp(-2u)) for x >= 0, and x exp(2u) / (1 + exp(2u)) below: no
/// cancellation.
struct Tanh {
  template <class A>
  __device__ A operator()(std::int64_t, A x) const {
    constexpr bool kDouble = sizeof(A) == 8;
    // exp(-2u) x is below half the least denormal there.
    const A t = fmin(fabs(x), A(kDouble ? 23 : 12));
    const TwoPart<A> u = tanh_argument(t);
    const auto e = exp_scaled<A>({-u.hi, -u.lo});
    // Smaller powers add nothing to 1.
    const A power = power_of_two(x, max(e.exponent, kDouble ? -1022 : -126));
    const A sum = fma(e.value, power, A(1));
    const bool negative = x < 0;
    const A y = div(negative ? mul(-t, e.value) : x, sum);
    return or_nan(x, negative ? scale(y, e.exponent) : y);
  }
};

}  // namespace

template <class T>
void gelu(const cpu::GeluArgs<T>& g, const Launch& launch) {
  Element<T>* const y = device_output(g.y);
  const Element<T>* const x = device_input(g.x);
  if (g.form == cpu::GeluForm::kErf) {
    map(launch, "gelu", Erf(), g.n, y, x);
  } else {
    map(launch, "gelu", Tanh(), g.n, y, x);
  }
}

template void gelu(const cpu::GeluArgs<float>&, const Launch&);
template void gelu(const cpu::GeluArgs<double>&, const Launch&);
template void gelu(const cpu::GeluArgs<hwy::bfloat16_t>&, const Launch&);
template void gelu(const cpu::GeluArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

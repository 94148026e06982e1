// exp and the two GELUs on vectors, compiled once a target. The guard is Highway's.
#if defined(BIC_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_MATH_INL_H_
#undef BIC_CPU_MATH_INL_H_
#else
#define BIC_CPU_MATH_INL_H_
#endif

#include "reference_kernels/cpu/coefficients.h"
#include "reference_kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// A number as an unevaluated sum; lo is far below hi.
template <class D>
struct TwoPart {
  hn::Vec<D> hi, lo;
};

/// exp of something as value * 2^scale, with value in [0.7, 1.42).
template <class D>
struct Scaled {
  hn::Vec<D> value, scale;
};

template <class D, size_t N>
HWY_INLINE hn::Vec<D> horner(D d, hn::Vec<D> x, const hn::TFromD<D> (&c)[N]) {
  auto p = hn::Set(d, c[N - 1]);
  for (int i = static_cast<int>(N) - 2; i >= 0; --i) p = hn::MulAdd(p, x, hn::Set(d, c[i]));
  return p;
}

/// exp(x.hi + x.lo), |x.hi| < 1000 (float: 200). 1 + (r + r^2 Q(r)) with r = x - n ln 2: n ln2_hi
/// is exact.
template <class D>
HWY_INLINE Scaled<D> exp_scaled(D d, TwoPart<D> x) {
  using C = Coefficients<hn::TFromD<D>>;
  const auto n = hn::Round(hn::Mul(x.hi, hn::Set(d, C::kLog2E)));
  const auto high = hn::NegMulAdd(n, hn::Set(d, C::kLn2Hi), x.hi);
  const auto r = hn::Add(hn::NegMulAdd(n, hn::Set(d, C::kLn2Lo), high), x.lo);
  const auto q = horner(d, r, C::kExp);
  const auto p = hn::MulAdd(hn::Mul(r, r), q, r);
  return {hn::Add(p, hn::Set(d, hn::TFromD<D>(1))), n};
}

/// 2^n for integral n within the exponents of normal numbers. Adding 1.5 * 2^(mantissa bits) puts n
/// into the lowest bits, from where a shift takes it to the exponent.
template <class D>
HWY_INLINE hn::Vec<D> power_of_two(D d, hn::Vec<D> n) {
  using F = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> du;
  constexpr int kMantissa = sizeof(F) == 8 ? 52 : 23;
  const F magic = sizeof(F) == 8 ? F(0x1.8p52 + 1023) : F(0x1.8p23 + 127);
  return hn::BitCast(d, hn::ShiftLeft<kMantissa>(hn::BitCast(du, hn::Add(n, hn::Set(d, magic)))));
}

/// v * 2^n in two steps, so that a denormal result is rounded once: the first product is exact.
template <class D>
HWY_INLINE hn::Vec<D> scale(D d, hn::Vec<D> v, hn::Vec<D> n) {
  const auto half = hn::Floor(hn::Mul(n, hn::Set(d, hn::TFromD<D>(0.5))));
  return hn::Mul(hn::Mul(v, power_of_two(d, half)), power_of_two(d, hn::Sub(n, half)));
}

/// exp(x) for x <= 0 (to -Inf) and NaN; below the clamp the result is 0.
template <class D>
HWY_INLINE hn::Vec<D> exp_nonpositive(D d, hn::Vec<D> x) {
  const auto lowest = hn::Set(d, hn::TFromD<D>(sizeof(hn::TFromD<D>) == 8 ? -800 : -120));
  const auto e = exp_scaled(d, TwoPart<D>{hn::Max(x, lowest), hn::Zero(d)});
  return hn::IfThenElse(hn::IsNaN(x), x, scale(d, e.value, e.scale));
}

/// a * b with its rounding error (0 on targets without fused multiply-add).
template <class D>
HWY_INLINE TwoPart<D> product(hn::Vec<D> a, hn::Vec<D> b) {
  const auto p = hn::Mul(a, b);
  return {p, hn::MulSub(a, b, p)};
}

/// NaN, and -Inf, whose product with 0 is NaN, to the canonical NaN; else y.
template <class D>
HWY_INLINE hn::Vec<D> or_nan(D d, hn::Vec<D> x, hn::Vec<D> y) {
  const auto inf = hn::Inf(d);
  const auto bad = hn::Or(hn::IsNaN(x), hn::Eq(x, hn::Neg(inf)));
  return hn::IfThenElse(bad, hn::NaN(d), y);
}

/// x Phi(x). With t = |x|: Phi(-t) = exp(-t^2 / 2) P(m) / (t + s), m = (t - s) / (t + s), and
/// Phi(t) = 1 - Phi(-t), which loses nothing. The square is kept in two parts: its rounding error
/// would be a relative error of the exponential.
template <class D>
HWY_INLINE hn::Vec<D> gelu_erf(D d, hn::Vec<D> x) {
  using F = hn::TFromD<D>;
  using C = Coefficients<F>;
  const auto t = hn::Min(hn::Abs(x), hn::Set(d, C::kPhiMax));
  const auto minus_half = hn::Set(d, F(-0.5));
  const auto square = product<D>(t, t);
  const auto e =
      exp_scaled(d, TwoPart<D>{hn::Mul(square.hi, minus_half), hn::Mul(square.lo, minus_half)});
  const auto shift = hn::Set(d, C::kPhiShift);
  const auto sum = hn::Add(t, shift);
  const auto m = hn::Div(hn::Sub(t, shift), sum);
  const auto q = hn::Div(hn::Mul(e.value, horner(d, m, C::kPhi)), sum);
  const auto negative = hn::Lt(x, hn::Zero(d));
  const auto scaled = scale(d, hn::IfThenElse(negative, hn::Mul(hn::Neg(t), q), q), e.scale);
  const auto positive = hn::Mul(x, hn::Sub(hn::Set(d, F(1)), scaled));
  return or_nan(d, x, hn::IfThenElse(negative, scaled, positive));
}

/// 2 sqrt(2 / pi) (t + 0.044715 t^3) for t >= 0, in two parts.
template <class D>
HWY_INLINE TwoPart<D> tanh_argument(D d, hn::Vec<D> t) {
  using C = Coefficients<hn::TFromD<D>>;
  const auto c1 = hn::Set(d, C::kTanh1), c3 = hn::Set(d, C::kTanh3);
  const auto square = product<D>(t, t);
  const auto cubic = product<D>(c3, square.hi);
  const auto sum = hn::Add(c1, cubic.hi);
  // Knuth's TwoSum: either term may be the larger.
  const auto part = hn::Sub(sum, c1);
  const auto rest = hn::Add(hn::Sub(c1, hn::Sub(sum, part)), hn::Sub(cubic.hi, part));
  auto low = hn::Add(rest, hn::Add(cubic.lo, hn::Set(d, C::kTanh1Lo)));
  low = hn::MulAdd(c3, square.lo, hn::MulAdd(hn::Set(d, C::kTanh3Lo), square.hi, low));
  const auto u = product<D>(t, sum);
  return {u.hi, hn::MulAdd(t, low, u.lo)};
}

/// x / 2 (1 + tanh(u)) = x / (1 + exp(-2u)) for x >= 0, and x exp(2u) / (1 + exp(2u)) below: no
/// cancellation.
template <class D>
HWY_INLINE hn::Vec<D> gelu_tanh(D d, hn::Vec<D> x) {
  using F = hn::TFromD<D>;
  // exp(-2u) x is below half the least denormal there.
  const auto t = hn::Min(hn::Abs(x), hn::Set(d, F(sizeof(F) == 8 ? 23 : 12)));
  const auto u = tanh_argument(d, t);
  const auto e = exp_scaled(d, TwoPart<D>{hn::Neg(u.hi), hn::Neg(u.lo)});
  const auto sum = hn::Add(hn::Set(d, F(1)), scale(d, e.value, e.scale));
  const auto negative = hn::Lt(x, hn::Zero(d));
  const auto y = hn::Div(hn::IfThenElse(negative, hn::Mul(hn::Neg(t), e.value), x), sum);
  return or_nan(d, x, hn::IfThenElse(negative, scale(d, y, e.scale), y));
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

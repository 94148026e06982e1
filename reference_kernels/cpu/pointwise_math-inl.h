// Elementary functions on vectors of double, compiled once a target. R, float or double, is the
// type that results are rounded to, and says how long the polynomials are. The guard is Highway's.
#if defined(BIC_CPU_POINTWISE_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_POINTWISE_MATH_INL_H_
#undef BIC_CPU_POINTWISE_MATH_INL_H_
#else
#define BIC_CPU_POINTWISE_MATH_INL_H_
#endif

#include "reference_kernels/cpu/math-inl.h"
#include "reference_kernels/cpu/turns.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

template <class R>
inline constexpr bool kDouble = sizeof(R) == 8;

/// From here on in size exp gives 0 or infinity in R.
template <class R>
inline constexpr double kExpReach = kDouble<R> ? 800 : 200;

/// exp(x) = (1 + rest) * 2^n, and for float 2^n too.
template <class D>
struct ExpParts {
  hn::Vec<D> rest, n, power;
};

/// r + r^2 Q(r) = exp(r) - 1 for |r| <= ln 2 / 2.
template <class R, class D>
HWY_INLINE hn::Vec<D> exp_rest(D d, hn::Vec<D> r) {
  constexpr auto& c = Coefficients<R>::kExp;
  constexpr int kTerms = sizeof(c) / sizeof(c[0]);
  auto q = hn::Set(d, static_cast<double>(c[kTerms - 1]));
  for (int i = kTerms - 2; i >= 0; --i) {
    q = hn::MulAdd(q, r, hn::Set(d, static_cast<double>(c[i])));
  }
  return hn::MulAdd(hn::Mul(r, r), q, r);
}

/// The low part of a number that has none.
struct NoLow {};
template <class V>
HWY_INLINE V plus_low(V r, NoLow) {
  return r;
}
template <class V>
HWY_INLINE V plus_low(V r, V low) {
  return hn::Add(r, low);
}

/// Of x + low. A float is served by ln 2 in one part, which errs by 2^-46 at most, and by n as it
/// is rounded in the low bits of a large number.
template <class R, class D, class Low = NoLow>
HWY_INLINE ExpParts<D> exp_parts(D d, hn::Vec<D> x, Low low = {}) {
  using C = Coefficients<double>;
  if constexpr (kDouble<R>) {
    const auto n = hn::Round(hn::Mul(x, hn::Set(d, C::kLog2E)));
    const auto high = hn::NegMulAdd(n, hn::Set(d, C::kLn2Hi), x);
    const auto r = plus_low(hn::NegMulAdd(n, hn::Set(d, C::kLn2Lo), high), low);
    return {exp_rest<R>(d, r), n, n};
  } else {
    const hn::RebindToUnsigned<D> du;
    const auto magic = hn::Set(d, 0x1.8p52 + 1023);
    const auto shifted = hn::MulAdd(x, hn::Set(d, C::kLog2E), magic);
    const auto n = hn::Sub(shifted, magic);
    const auto r = plus_low(hn::NegMulAdd(n, hn::Set(d, C::kLn2Hi + C::kLn2Lo), x), low);
    const auto power = hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(du, shifted)));
    return {exp_rest<R>(d, r), n, power};
  }
}

/// v * 2^n, rounded once to a denormal of R.
template <class R, class D>
HWY_INLINE hn::Vec<D> times_power(D d, hn::Vec<D> v, const ExpParts<D>& e) {
  if constexpr (kDouble<R>) return scale(d, v, e.n);
  return hn::Mul(v, e.power);
}

/// exp(x + low), x not NaN; low is 0 where x is beyond kExpReach.
template <class R, class D, class Low = NoLow>
HWY_INLINE hn::Vec<D> exp_of(D d, hn::Vec<D> x, Low low = {}) {
  const auto lowest = hn::Set(d, -kExpReach<R>), one = hn::Set(d, 1.0);
  // Beyond 710 the two steps of `scale` would themselves overflow.
  const auto high = hn::Min(x, hn::Set(d, kDouble<R> ? 710 : kExpReach<R>));
  const auto e = exp_parts<R>(d, hn::Max(high, lowest), low);
  if constexpr (kDouble<R>) return scale(d, hn::Add(one, e.rest), e.n);
  return hn::MulAdd(e.rest, e.power, e.power);
}

template <class R>
struct Exp {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    const auto y = exp_of<R>(d, x);
    return hn::IfThenElse(hn::IsNaN(x), x, y);
  }
};

/// 1 / (1 + exp(-x)); for double exp(x) / (1 + exp(x)) where x < 0. For float, exp(-x) of any x
/// whose result is not 0 is far below the largest double.
template <class R>
struct Sigmoid {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    const auto one = hn::Set(d, 1.0);
    if constexpr (!kDouble<R>) {
      const auto inverse = hn::Add(one, exp_of<R>(d, hn::Neg(x)));
      return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(one, inverse));
    }
    const auto e = exp_of<R>(d, hn::Neg(hn::Abs(x)));
    const auto y = hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
    return hn::IfThenElse(hn::IsNaN(x), x, y);
  }
};

/// x times that. For double and x < 0 the power of two comes last: x exp(x) is rounded once where
/// it is denormal.
template <class R>
struct Silu {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    const auto one = hn::Set(d, 1.0);
    if constexpr (!kDouble<R>) {
      const auto y = hn::Div(x, hn::Add(one, exp_of<R>(d, hn::Neg(x))));
      return hn::IfThenElse(hn::Eq(x, hn::Neg(hn::Inf(d))), hn::NaN(d), y);
    }
    const auto t = hn::Min(hn::Abs(x), hn::Set(d, kExpReach<R>));
    const auto e = exp_parts<R>(d, hn::Neg(t));
    const auto value = hn::Add(one, e.rest);
    const auto sum = hn::Add(one, times_power<R>(d, value, e));
    const auto negative = hn::Lt(x, hn::Zero(d));
    const auto y = hn::Div(hn::IfThenElse(negative, hn::Mul(hn::Neg(t), value), x), sum);
    return or_nan(d, x, hn::IfThenElse(negative, times_power<R>(d, y, e), y));
  }
};

/// m / (m + 2), m = exp(2 |x|) - 1, with the sign of x.
template <class R>
struct Tanh {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    const auto t = hn::Min(hn::Abs(x), hn::Set(d, 22.0));  // 1 - tanh(22) is below 2^-62
    const auto e = exp_parts<R>(d, hn::Add(t, t));
    const auto power = kDouble<R> ? power_of_two(d, e.n) : e.power;
    const auto m = hn::MulAdd(e.rest, power, hn::Sub(power, hn::Set(d, 1.0)));
    const auto y = hn::CopySign(hn::Div(m, hn::Add(m, hn::Set(d, 2.0))), x);
    return hn::IfThenElse(hn::IsNaN(x), x, y);
  }
};

/// x = (1 + f) * 2^k with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
template <class D>
struct LogParts {
  hn::Vec<D> f, k;
};

template <class R, class D>
HWY_INLINE LogParts<D> log_parts(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCD, kOne = 0x3FF0000000000000;
  auto bias = hn::Set(d, 0x1p52 + 1023);
  if constexpr (kDouble<R>) {
    const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-1022));
    x = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p54)), x);
    bias = hn::IfThenElse(tiny, hn::Set(d, 0x1p52 + 1023 + 54), bias);
  }
  const auto moved = hn::Add(hn::BitCast(du, x), hn::Set(du, kOne - kRootHalf));
  const auto fraction = hn::And(moved, hn::Set(du, 0x000FFFFFFFFFFFFFu));
  const auto m = hn::BitCast(d, hn::Add(fraction, hn::Set(du, kRootHalf)));
  // The exponent in the low bits of 2^52.
  const auto k = hn::Or(hn::ShiftRight<52>(moved), hn::Set(du, 0x4330000000000000u));
  return {hn::Sub(m, hn::Set(d, 1.0)), hn::Sub(hn::BitCast(d, k), bias)};
}

/// 2 (artanh(s) / s - 1) / z in z = s^2 <= 0.0295, from its term z^First on.
template <class R, int First, class D>
HWY_INLINE hn::Vec<D> artanh_rest(D d, hn::Vec<D> z) {
  constexpr int kLast = kDouble<R> ? 10 : 4;
  auto p = hn::Set(d, 2.0 / (2 * kLast + 3));
  for (int i = kLast - 1; i >= First; --i) p = hn::MulAdd(p, z, hn::Set(d, 2.0 / (2 * i + 3)));
  return p;
}

/// -Inf of 0, Inf of Inf, NaN of NaN and of x < 0, else y.
template <class D>
HWY_INLINE hn::Vec<D> log_limits(D d, hn::Vec<D> x, hn::Vec<D> y) {
  const auto inf = hn::Inf(d), zero = hn::Zero(d);
  y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), y);
  return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Lt(x, zero)), hn::NaN(d), y);
}

/// k ln 2 + log(1 + f), the latter f - (f^2 / 2 - s (f^2 / 2 + R)) with s = f / (2 + f), as in
/// Sun's fdlibm.
template <class R>
struct Log {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    using C = Coefficients<double>;
    const auto [f, k] = log_parts<R>(d, x);
    const auto s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
    const auto z = hn::Mul(s, s);
    const auto half_square = hn::Mul(hn::Mul(hn::Set(d, 0.5), f), f);
    const auto sum = hn::MulAdd(z, artanh_rest<R, 0>(d, z), half_square);
    const auto low = hn::MulAdd(s, sum, hn::Mul(k, hn::Set(d, C::kLn2Lo)));
    const auto rest = hn::Sub(hn::Sub(half_square, low), f);
    return log_limits(d, x, hn::MulSub(k, hn::Set(d, C::kLn2Hi), rest));
  }
};

/// 1 / sqrt(x), both exactly rounded.
struct Rsqrt {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    return hn::Div(hn::Set(d, hn::TFromD<D>(1)), hn::Sqrt(x));
  }
};

/// a + b as a sum and its error (Knuth).
template <class D>
HWY_INLINE TwoPart<D> two_sum(hn::Vec<D> a, hn::Vec<D> b) {
  const auto s = hn::Add(a, b);
  const auto t = hn::Sub(s, a);
  return {s, hn::Add(hn::Sub(a, hn::Sub(s, t)), hn::Sub(b, t))};
}

/// log x for positive finite x with a relative error near 2^-63: 2 s + s^3 (2/3 + s^2 Q), s in two
/// parts, the term 2/3 too.
template <class D>
HWY_INLINE TwoPart<D> log_two(D d, hn::Vec<D> x) {
  using C = Coefficients<double>;
  const auto [f, k] = log_parts<double>(d, x);
  const auto sum = two_sum<D>(hn::Set(d, 2.0), f);
  const auto s = hn::Div(f, sum.hi);
  const auto left = hn::NegMulAdd(s, sum.lo, hn::NegMulAdd(s, sum.hi, f));
  const auto s_lo = hn::Div(left, sum.hi);
  const auto z = product<D>(s, s);
  const auto z_lo = hn::MulAdd(hn::Add(s, s), s_lo, z.lo);
  // g = z (2/3 + z Q): log(1 + f) = 2 s + s g.
  const auto third = hn::Set(d, 2.0 / 3), third_lo = hn::Set(d, 0x1.5555555555555p-55);
  const auto first = product<D>(z.hi, third);
  const auto higher = hn::Mul(hn::Mul(z.hi, z.hi), artanh_rest<double, 1>(d, z.hi));
  const auto first_lo = hn::MulAdd(z_lo, third, hn::MulAdd(z.hi, third_lo, first.lo));
  auto g = two_sum<D>(first.hi, higher);
  g.lo = hn::Add(g.lo, first_lo);
  const auto cubic = product<D>(s, g.hi);
  const auto cubic_lo = hn::MulAdd(s_lo, g.hi, hn::MulAdd(s, g.lo, cubic.lo));
  const auto one = two_sum<D>(hn::Add(s, s), cubic.hi);
  const auto one_lo = hn::Add(one.lo, hn::Add(hn::Add(s_lo, s_lo), cubic_lo));
  const auto all = two_sum<D>(hn::Mul(k, hn::Set(d, C::kLn2Hi)), one.hi);
  return {all.hi, hn::Add(all.lo, hn::MulAdd(k, hn::Set(d, C::kLn2Lo), one_lo))};
}

/// |x|^y as exp(y log |x|), without the special cases of x and y.
template <class R, class D>
HWY_INLINE hn::Vec<D> power_of_size(D d, hn::Vec<D> size, hn::Vec<D> y) {
  TwoPart<D> l{size, hn::Zero(d)};
  if constexpr (kDouble<R>) {
    l = log_two(d, size);
    l.hi = log_limits(d, size, l.hi);
  } else {
    l.hi = Log<R>::apply(d, size);
  }
  auto p = product<D>(l.hi, y);
  p.lo = hn::MulAdd(l.lo, y, p.lo);
  p.lo = hn::IfThenElseZero(hn::Lt(hn::Abs(p.hi), hn::Set(d, kExpReach<R>)), p.lo);
  const auto nan = hn::IsNaN(p.hi);
  return hn::IfThenElse(nan, p.hi, exp_of<R>(d, p.hi, p.lo));
}

/// x^y with the special cases of IEEE 754-2019, 9.2.1.
template <class R, class D>
HWY_INLINE hn::Vec<D> power(D d, hn::Vec<D> x, hn::Vec<D> y) {
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0), half = hn::Set(d, 0.5);
  const auto size = hn::Abs(x);
  auto p = power_of_size<R>(d, size, y);
  p = hn::IfThenElse(hn::Eq(size, one), one, p);
  const auto whole = hn::Eq(hn::Floor(y), y);
  const auto halved = hn::Mul(y, half);
  const auto odd = hn::AndNot(hn::Eq(hn::Floor(halved), halved), whole);
  const auto sign = hn::And(x, hn::Set(d, -0.0));
  p = hn::IfThenElse(odd, hn::Xor(p, sign), p);
  const auto fraction = hn::AndNot(whole, hn::And(hn::Lt(x, zero), hn::Lt(size, hn::Inf(d))));
  const auto nan = hn::Or(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), fraction);
  p = hn::IfThenElse(nan, hn::NaN(d), p);
  return hn::IfThenElse(hn::Or(hn::Eq(y, zero), hn::Eq(x, one)), one, p);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

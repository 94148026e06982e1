// Sine and cosine on vectors of double, compiled once a target; R as in pointwise_math-inl.h. The
// guard is Highway's.
#if defined(BIC_CPU_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_TRIG_INL_H_
#undef BIC_CPU_TRIG_INL_H_
#else
#define BIC_CPU_TRIG_INL_H_
#endif

#include "reference_kernels/cpu/pointwise_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

constexpr double inverse_factorial(int n) { return n == 0 ? 1 : inverse_factorial(n - 1) / n; }

/// (-1)^i / (2i + odd)!, of which Taylor's polynomials are made: in r^2 <= 0.62, for float <= 2.5.
constexpr double taylor(int i, int odd) {
  return (i % 2 == 0 ? 1 : -1) * inverse_factorial(2 * i + odd);
}

/// The polynomial from its term First on, divided by r^(2 First).
template <int First, int Last, int Odd, class D>
HWY_INLINE hn::Vec<D> taylor_from(D d, hn::Vec<D> z) {
  constexpr auto kCoefficients = [] {
    std::array<double, Last - First + 1> all{};
    for (int i = First; i <= Last; ++i) all[i - First] = taylor(i, Odd);
    return all;
  }();
  auto p = hn::Set(d, kCoefficients.back());
  for (int i = Last - First - 1; i >= 0; --i) p = hn::MulAdd(p, z, hn::Set(d, kCoefficients[i]));
  return p;
}

/// x less the quadrants, and their number in the low bits.
template <class D>
struct Turned {
  TwoPart<D> rest;
  hn::Vec<hn::RebindToUnsigned<D>> quadrants;
};

/// Up to 2^26 by subtracting multiples of pi / 2 in parts of 26 bits, whose products are exact (W.
/// Cody, W. Waite, 1980).
template <class D>
HWY_INLINE Turned<D> reduce_small(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  const auto magic = hn::Set(d, 0x1.8p52);
  const auto shifted = hn::Add(hn::Mul(x, hn::Set(d, 0x1.45f306dc9c883p-1)), magic);
  const auto n = hn::Sub(shifted, magic);
  const auto a = hn::NegMulAdd(n, hn::Set(d, 0x1.921fb5p+0), x);
  const auto b = two_sum<D>(a, hn::Mul(n, hn::Set(d, -0x1.110b46p-26)));
  const auto c = two_sum<D>(b.hi, hn::Mul(n, hn::Set(d, -0x1.1a6263p-54)));
  const auto low = hn::NegMulAdd(n, hn::Set(d, 0x1.8a2e03707344ap-81), hn::Add(b.lo, c.lo));
  return {{c.hi, low}, hn::BitCast(du, shifted)};
}

/// Lanes beyond 2^26, one by one: a function of the lane's x alone.
template <class D>
HWY_NOINLINE Turned<D> reduce_large(D d, hn::Vec<D> x, hn::Mask<D> large, Turned<D> t) {
  const hn::RebindToUnsigned<D> du;
  constexpr size_t kLanes = hn::MaxLanes(D());
  alignas(64) double in[kLanes], hi[kLanes] = {}, lo[kLanes] = {};
  alignas(64) std::uint64_t quadrants[kLanes] = {};
  hn::Store(hn::IfThenElse(large, x, hn::Set(d, 1.0)), d, in);
  for (size_t i = 0; i < kLanes; ++i) {
    if (in[i] == 1) continue;
    const Turn turn = reduce_turns(in[i]);
    hi[i] = turn.hi, lo[i] = turn.lo;
    quadrants[i] = static_cast<std::uint64_t>(turn.quadrant);
  }
  const auto in_integers = hn::RebindMask(du, large);
  return {{hn::IfThenElse(large, hn::Load(d, hi), t.rest.hi),
           hn::IfThenElse(large, hn::Load(d, lo), t.rest.lo)},
          hn::IfThenElse(in_integers, hn::Load(du, quadrants), t.quadrants)};
}

/// sin(x + Quadrants * pi / 2) for float: x less half turns (and Quadrants), of which one
/// polynomial gives the sine. No float is so near a multiple of pi / 2 that the rounding of its
/// difference to that, the products but one being exact, would show.
template <int Quadrants, class D>
HWY_INLINE hn::Vec<D> sine_of_float(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  const auto large = hn::Gt(hn::Abs(x), hn::Set(d, 0x1p26));
  const auto magic = hn::Set(d, 0x1.8p52);
  const auto turns = hn::MulAdd(x, hn::Set(d, 0x1.45f306dc9c883p-2), hn::Set(d, Quadrants * 0.5));
  const auto shifted = hn::Add(turns, magic);
  const auto n = hn::Sub(hn::Sub(shifted, magic), hn::Set(d, Quadrants * 0.5));
  auto r = hn::NegMulAdd(n, hn::Set(d, 0x1.921fb5p+1), x);
  r = hn::NegMulAdd(n, hn::Set(d, 0x1.110b46p-25), r);
  r = hn::NegMulAdd(n, hn::Set(d, 0x1.1a62633145c07p-53), r);
  auto sign = hn::ShiftLeft<63>(hn::BitCast(du, shifted));
  if (HWY_UNLIKELY(!hn::AllFalse(d, large))) {
    const auto some = hn::And(large, hn::Lt(hn::Abs(x), hn::Inf(d)));
    const Turned<D> t = reduce_large(d, x, some, {{r, hn::Zero(d)}, hn::Zero(du)});
    const auto quadrant = hn::Add(t.quadrants, hn::Set(du, std::uint64_t{Quadrants}));
    const auto odd = hn::Ne(hn::And(quadrant, hn::Set(du, 1u)), hn::Zero(du));
    // cos r = sin(pi / 2 - |r|)
    const auto other = hn::Sub(hn::Set(d, 0x1.921fb54442d18p+0), hn::Abs(t.rest.hi));
    const auto rest = hn::IfThenElse(hn::RebindMask(d, odd), other, t.rest.hi);
    r = hn::IfThenElse(some, rest, r);
    sign = hn::IfThenElse(
        hn::RebindMask(du, some), hn::ShiftLeft<62>(hn::And(quadrant, hn::Set(du, 2u))), sign);
  }
  const auto z = hn::Mul(r, r);
  const auto y = hn::MulAdd(r, hn::Mul(z, taylor_from<1, 6, 1>(d, z)), r);
  return hn::Xor(y, hn::BitCast(d, sign));
}

/// sin(x + Quadrants * pi / 2).
template <class R, int Quadrants>
struct Sine {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> x) {
    if constexpr (!kDouble<R>) {
      const auto y = sine_of_float<Quadrants>(d, x);
      return Quadrants == 0 ? hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y) : y;
    }
    const hn::RebindToUnsigned<D> du;
    const auto size = hn::Abs(x);
    const auto large = hn::And(hn::Gt(size, hn::Set(d, 0x1p26)), hn::Lt(size, hn::Inf(d)));
    Turned<D> t = reduce_small(d, x);
    if (HWY_UNLIKELY(!hn::AllFalse(d, large))) t = reduce_large(d, x, large, t);
    const auto r = t.rest.hi, z = hn::Mul(r, r);
    const auto quadrant = hn::Add(t.quadrants, hn::Set(du, std::uint64_t{Quadrants}));
    const auto odd = hn::Ne(hn::And(quadrant, hn::Set(du, 1u)), hn::Zero(du));
    const auto y = hn::IfThenElse(hn::RebindMask(d, odd), cosine(d, t.rest, z), sine(d, t.rest, z));
    const auto sign = hn::ShiftLeft<62>(hn::And(quadrant, hn::Set(du, 2u)));
    const auto signed_y = hn::Xor(y, hn::BitCast(d, sign));
    return Quadrants == 0 ? hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, signed_y) : signed_y;
  }

 private:
  /// r + r^3 S(r^2), and what the low part adds, r' cos r.
  template <class D>
  static HWY_INLINE hn::Vec<D> sine(D d, TwoPart<D> r, hn::Vec<D> z) {
    const auto p = hn::Mul(z, taylor_from<1, 8, 1>(d, z));
    const auto cosine = hn::NegMulAdd(z, hn::Set(d, 0.5), hn::Set(d, 1.0));
    return hn::Add(r.hi, hn::MulAdd(r.hi, p, hn::Mul(r.lo, cosine)));
  }

  /// 1 - r^2 / 2 + r^4 C(r^2), with what the first difference lost, and -r' r.
  template <class D>
  static HWY_INLINE hn::Vec<D> cosine(D d, TwoPart<D> r, hn::Vec<D> z) {
    const auto one = hn::Set(d, 1.0), half = hn::Mul(z, hn::Set(d, 0.5));
    const auto w = hn::Sub(one, half);
    const auto lost = hn::Sub(hn::Sub(one, w), half);
    const auto p = hn::Mul(hn::Mul(z, z), taylor_from<2, 9, 0>(d, z));
    return hn::Add(w, hn::Add(lost, hn::NegMulAdd(r.hi, r.lo, p)));
  }
};

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

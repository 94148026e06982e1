// What the kernels share, compiled once a target. Included by their .cpp files only, after
// foreach_target.h; the guard is Highway's.
#if defined(BIC_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BIC_CPU_SIMD_INL_H_
#undef BIC_CPU_SIMD_INL_H_
#else
#define BIC_CPU_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#define BIC_INLINED HWY_ATTR __attribute__((always_inline))

template <int I>
using Int = std::integral_constant<int, I>;

template <class F, int... I>
HWY_INLINE void for_each(F f, std::integer_sequence<int, I...>) {
  (f(Int<I>()), ...);
}
/// f(0), ..., f(N - 1) with constants: arrays of vectors stay in registers only if every index is
/// one.
template <int N, class F>
HWY_INLINE void for_each(F f) {
  for_each(f, std::make_integer_sequence<int, N>());
}

/// Type of sums and of arithmetic.
template <class T>
using Acc = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Lanes of a sum, whatever the hardware has: part of the order, changing it changes the bits.
inline constexpr int kSumLanes = 16;
/// The native vector of at most 16 lanes.
template <class A>
using Wide = hn::CappedTag<A, kSumLanes>;
template <class A>
using WideVec = hn::Vec<Wide<A>>;
template <class A>
inline constexpr int kWideLanes = static_cast<int>(hn::MaxLanes(Wide<A>()));

/// Exact widening; float16 by hand where there is no F16C, because Highway's loses Inf and NaN
/// there.
template <class D>
HWY_INLINE hn::Vec<D> promote(D d, hn::Vec<hn::Rebind<hwy::float16_t, D>> v) {
#if HWY_TARGET >= HWY_SSE4
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> du16;
  const auto h = hn::PromoteTo(du, hn::BitCast(du16, v));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(h, hn::Set(du, 0x7FFFu)));
  const auto scaled = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f));
  const auto special = hn::Ge(scaled, hn::Set(d, 65536.0f));
  const auto bits =
      hn::Or(hn::BitCast(du, scaled),
             hn::IfThenElseZero(hn::RebindMask(du, special), hn::Set(du, 0x7F800000u)));
  return hn::BitCast(d, hn::Or(bits, hn::ShiftLeft<16>(hn::And(h, hn::Set(du, 0x8000u)))));
#else
  return hn::PromoteTo(d, v);
#endif
}

/// Lanes(d) elements of p as numbers of the arithmetic's type.
template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const hn::TFromD<D>* p) {
  return hn::LoadU(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const hwy::float16_t* p) {
  return promote(d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), p));
}
template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const hwy::bfloat16_t* p) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::bfloat16_t, D>(), p));
}

/// Exact widening of a vector of 16-bit numbers.
template <class D>
HWY_INLINE hn::Vec<D> widened(D d, hn::Vec<hn::Rebind<hwy::float16_t, D>> v) {
  return promote(d, v);
}
template <class D>
HWY_INLINE hn::Vec<D> widened(D d, hn::Vec<hn::Rebind<hwy::bfloat16_t, D>> v) {
  return hn::PromoteTo(d, v);
}

/// The first `count` elements of p, then zeros. Never reads beyond p + count: by a masked load
/// where the target has one for the type.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_some(D d, const T* p, std::int64_t count) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(T) == 2) {
    const hn::Rebind<std::uint16_t, D> bits;
    const auto some =
        hn::MaskedLoad(hn::FirstN(bits, count), bits, reinterpret_cast<const std::uint16_t*>(p));
    return widened(d, hn::BitCast(hn::Rebind<T, D>(), some));
  }
#endif
#if HWY_TARGET <= HWY_AVX2
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, p);
  }
#endif
  T padded[hn::MaxLanes(d)] = {};
  std::memcpy(static_cast<void*>(padded), p, count * sizeof(T));
  return load_wide(d, padded);
}

/// The same, of at least a vector's elements all.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_columns(D d, const T* p, std::int64_t count) {
  const bool whole = count >= static_cast<std::int64_t>(hn::MaxLanes(d));
  return whole ? load_wide(d, p) : load_some(d, p, count);
}

template <class T>
HWY_INLINE Acc<T> widen(T x) {
  if constexpr (std::is_same_v<T, hwy::float16_t>) {
    const hn::CappedTag<float, 1> d;
    return hn::GetLane(promote(d, hn::LoadU(hn::Rebind<T, decltype(d)>(), &x)));
  } else if constexpr (std::is_same_v<T, hwy::bfloat16_t>) {
    return hwy::F32FromBF16(x);
  } else {
    return x;
  }
}

/// NaN of any sign and payload to the one quiet NaN: its bits must not tell which instruction made
/// it.
template <class D>
HWY_INLINE hn::Vec<D> canonical(D d, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto nan = sizeof(hn::TFromD<D>) == 8 ? 0x7FF8000000000000u : 0x7FC00000u;
  const auto quiet = hn::BitCast(d, hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(nan)));
  return hn::IfThenElse(hn::IsNaN(v), quiet, v);
}

/// Rounding to nearest even; v holds no other NaN than the canonical one.
template <class D>
HWY_INLINE hn::Vec<D> round_to(D, hn::Vec<D> v, hn::TFromD<D>) {
  return v;
}
template <class D>
HWY_INLINE auto round_to(D, hn::Vec<D> v, hwy::bfloat16_t) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto u = hn::BitCast(du, v);
  const auto even = hn::And(hn::ShiftRight<16>(u), hn::Set(du, 1u));
  const auto rounded = hn::Add(u, hn::Add(even, hn::Set(du, 0x7FFFu)));
  const auto bits =
      hn::ShiftRight<16>(hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), u, rounded));
  const hn::Rebind<uint16_t, D> du16;
  return hn::BitCast(hn::Rebind<hwy::bfloat16_t, D>(), hn::DemoteTo(du16, hn::BitCast(di, bits)));
}
template <class D>
HWY_INLINE auto round_to([[maybe_unused]] D d, hn::Vec<D> v, hwy::float16_t) {
#if HWY_TARGET >= HWY_SSE4  // Highway truncates where there is no F16C
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto u = hn::BitCast(di, v);
  const auto magnitude = hn::And(u, hn::Set(di, 0x7FFFFFFF));
  const auto sign = hn::And(hn::ShiftRight<16>(hn::BitCast(du, v)), hn::Set(du, 0x8000u));
  // Below the normals, adding 0.5 makes the hardware round at 2^-24, the last place of the
  // denormals.
  const auto shifted = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f));
  const auto small = hn::Sub(hn::BitCast(di, shifted), hn::Set(di, 0x3F000000));
  const auto even = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(even, hn::Set(di, 0xFFF - (112 << 23)))));
  auto bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 113 << 23)), small, normal);
  bits = hn::Min(bits, hn::Set(di, 0x7C00));
  bits = hn::IfThenElse(hn::RebindMask(di, hn::IsNaN(v)), hn::Set(di, 0x7E00), bits);
  const auto h = hn::DemoteTo(hn::Rebind<uint16_t, D>(), hn::Or(bits, hn::BitCast(di, sign)));
  return hn::BitCast(hn::Rebind<hwy::float16_t, D>(), h);
#else
  return hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v);
#endif
}

/// NaN made canonical, one rounding, stored.
template <class D, class T>
HWY_INLINE void store_rounded(D d, hn::Vec<D> v, T* p) {
  const auto rounded = round_to(d, canonical(d, v), T());
  hn::StoreU(rounded, hn::DFromV<decltype(rounded)>(), p);
}
/// The first `count` lanes only.
template <class D, class T>
HWY_INLINE void store_some(D d, hn::Vec<D> v, T* p, std::int64_t count) {
  T all[hn::MaxLanes(d)];
  store_rounded(d, v, all);
  std::memcpy(static_cast<void*>(p), all, count * sizeof(T));
}
template <class T>
HWY_INLINE T round_one(Acc<T> v) {
  const hn::CappedTag<Acc<T>, 16 / sizeof(Acc<T>)> d;
  T y;
  store_some(d, hn::Set(d, v), &y, 1);
  return y;
}

/// 16 running sums in registers.
template <class A>
struct Lanes {
  static constexpr int kRegs = kSumLanes / kWideLanes<A>;
  WideVec<A> reg[kRegs];
};

template <class A>
HWY_INLINE Lanes<A> zero_lanes() {
  Lanes<A> s;
  for_each<Lanes<A>::kRegs>([&](auto r) BIC_INLINED { s.reg[r] = hn::Zero(Wide<A>()); });
  return s;
}

/// The tree over the lanes: l and l + 8, then l + 4, l + 2, l + 1.
template <class A, class Join>
HWY_INLINE A fold_lanes(const Lanes<A>& s, Join join) {
  alignas(64) A lane[kSumLanes];
  for_each<Lanes<A>::kRegs>(
      [&](auto r) BIC_INLINED { hn::Store(s.reg[r], Wide<A>(), lane + r * kWideLanes<A>); });
  for (int half = kSumLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] = join(lane[l], lane[l + half]);
  }
  return lane[0];
}
template <class A>
HWY_INLINE A fold_lanes(const Lanes<A>& s) {
  return fold_lanes(s, [](A a, A b) { return a + b; });
}

/// For r = 0, 16, 32, ... < n: step(reg, load) in each of the registers that hold lanes r, ..., r
/// + 15. `load(padding)` is their x, `padding` beyond n.
template <class T, class Step>
HWY_INLINE void for_lanes(const T* x, std::int64_t n, Lanes<Acc<T>>& s, Acc<T> padding, Step step) {
  using A = Acc<T>;
  const Wide<A> d;
  std::int64_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    for_each<Lanes<A>::kRegs>([&](auto r) BIC_INLINED {
      s.reg[r] = step(load_wide(d, x + i + r * kWideLanes<A>), s.reg[r]);
    });
  }
  if (i == n) return;
  alignas(64) A tail[kSumLanes];
  for (int l = 0; l < kSumLanes; ++l) tail[l] = i + l < n ? widen(x[i + l]) : padding;
  for_each<Lanes<A>::kRegs>([&](auto r) BIC_INLINED {
    s.reg[r] = step(hn::Load(d, tail + r * kWideLanes<A>), s.reg[r]);
  });
}

/// The sum of n contiguous elements in the order of sum.h.
template <class T>
HWY_INLINE Acc<T> sum_contiguous(const T* x, std::int64_t n) {
  auto s = zero_lanes<Acc<T>>();
  for_lanes(x, n, s, Acc<T>(0), [](auto v, auto lane) BIC_INLINED { return hn::Add(lane, v); });
  return fold_lanes(s);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard

#pragma once

#include <cmath>

namespace bic {

/// An unevaluated sum hi + lo of two doubles, |lo| <= ulp(hi) / 2: 106 bits of significand.
/// Overflow, NaN and infinities follow `hi`, with lo = 0.
///
/// Source: T. J. Dekker, "A floating-point technique for extending the available precision" (1971);
/// D. Knuth, TAOCP 2, 4.2.2; Y. Hida, X. Li, D. Bailey, "Library for double-double and quad-double
/// arithmetic" (2007). Relative error of + at most 2 * 2^-106, of * and / below 10 * 2^-106.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;

  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double value) : hi(value) {}  // implicit: formulas mix it with literals
  constexpr DoubleDouble(double high, double low) : hi(high), lo(low) {}
};

/// a + b exactly, for any a and b (Knuth).
inline DoubleDouble two_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

/// a + b exactly, for |a| >= |b| (Dekker).
inline DoubleDouble quick_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

/// a * b exactly, unless the product's last bit lies below 2^-1074.
inline DoubleDouble two_prod(double a, double b) {
  const double p = a * b;
  if (!std::isfinite(p)) return p;
  return {p, std::fma(a, b, -p)};
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.hi, -a.lo}; }

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble s = two_sum(a.hi, b.hi);
  if (!std::isfinite(s.hi)) return s.hi;
  const DoubleDouble t = two_sum(a.lo, b.lo);
  s = quick_two_sum(s.hi, s.lo + t.hi);
  return quick_two_sum(s.hi, s.lo + t.lo);
}

inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }

inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = two_prod(a.hi, b.hi);
  if (!std::isfinite(p.hi)) return p.hi;
  return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.hi / b.hi;
  if (!std::isfinite(first) || !std::isfinite(b.hi)) return first;
  const DoubleDouble r = a - b * first;
  const double second = r.hi / b.hi;
  const double third = (r - b * second).hi / b.hi;
  return quick_two_sum(first, second) + third;
}

inline DoubleDouble& operator+=(DoubleDouble& a, DoubleDouble b) { return a = a + b; }

inline bool operator<(DoubleDouble a, DoubleDouble b) {
  return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}
inline bool operator>(DoubleDouble a, DoubleDouble b) { return b < a; }

/// One Newton step from the correctly rounded root of `hi` (Karp); relative error below 2^-103.
inline DoubleDouble sqrt(DoubleDouble a) {
  const double root = std::sqrt(a.hi);
  if (!std::isfinite(root) || root == 0) return root;
  return quick_two_sum(root, (a - two_prod(root, root)).hi / (2 * root));
}

}  // namespace bic

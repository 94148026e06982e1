"""Prints the polynomials of coefficients.h (needs mpmath): python3 coefficients.py > coefficients.h.

Chebyshev interpolation with 40 digits, each coefficient rounded once to its type.
exp(r) = 1 + r + r^2 Q(r) on |r| <= ln(2) / 2, and Phi(-t) = exp(-t^2 / 2) P(m) / (t + s), with
m = (t - s) / (t + s) on 0 <= t <= t_max (the map of Shepherd and Laframboise 1981).
"""

import struct

from mpmath import cos, erfc, exp, factorial, log, mp, mpf, pi, sqrt

mp.dps = 40


def interpolate(f, low, high, degree):
    """Monomial coefficients, lowest first, of the interpolant of f at the Chebyshev points."""
    nodes = [cos(pi * (k + mpf(1) / 2) / (degree + 1)) for k in range(degree + 1)]
    points = [(high - low) / 2 * x + (low + high) / 2 for x in nodes]
    matrix = mp.matrix([[p**i for i in range(degree + 1)] for p in points])
    return list(mp.lu_solve(matrix, mp.matrix([f(p) for p in points])))


def literal(value, bits):
    if bits == 64:
        return float(value).hex()
    return struct.unpack("f", struct.pack("f", float(value)))[0].hex() + "f"


def cut(value, bits):
    """`value` with only its first `bits` bits, so that small integers times it are exact."""
    scale = mpf(2) ** bits
    return mp.floor(value * scale) / scale


def table(bits, exp_degree, phi_degree, shift, t_max, ln2_bits):
    def quotient(r):  # (exp(r) - 1 - r) / r^2 without the cancellation
        return sum(r**k / factorial(k + 2) for k in range(40))

    q = interpolate(quotient, -log(2) / 2, log(2) / 2, exp_degree - 2)

    def tail(m):
        t = shift * (1 + m) / (1 - m)
        return exp(t * t / 2) * erfc(t / sqrt(2)) / 2 * (t + shift)

    p = interpolate(tail, mpf(-1), (t_max - shift) / (t_max + shift), phi_degree)
    kind = "double" if bits == 64 else "float"
    ln2_hi = cut(log(2), ln2_bits)
    c1 = 2 * sqrt(2 / pi)
    c2 = c1 * mpf("0.044715")
    high = lambda v: mpf(float(v)) if bits == 64 else mpf(float.fromhex(literal(v, 32)[:-1]))
    print(f"template <>\nstruct Coefficients<{kind}> {{")
    for name, values in (("kExp", q), ("kPhi", p)):
        print(f"  static constexpr {kind} {name}[] = {{{', '.join(literal(v, bits) for v in values)}}};")
    for name, value in (("kLog2E", 1 / log(2)), ("kLn2Hi", ln2_hi), ("kLn2Lo", log(2) - ln2_hi),
                        ("kPhiShift", mpf(shift)), ("kPhiMax", mpf(t_max)),
                        ("kTanh1", c1), ("kTanh1Lo", c1 - high(c1)),
                        ("kTanh3", c2), ("kTanh3Lo", c2 - high(c2))):
        print(f"  static constexpr {kind} {name} = {literal(value, bits)};")
    print("};\n")


print("""#pragma once

namespace bic::cpu {

/// Constants of exp and of the normal distribution function, printed by coefficients.py: there
/// is the formula of each. kTanh1 = 2 sqrt(2 / pi), kTanh3 = 0.044715 kTanh1; Lo is
/// what rounding lost.
template <class T>
struct Coefficients;
""")
table(32, 6, 10, 3, 16, 15)
table(64, 11, 24, 3, 40, 32)
print("}  // namespace bic::cpu")

#pragma once

#include "reference_kernels/oracle/double_double.h"

namespace bic {

// Elementary functions made of + - * / and exact scaling by powers of two only: no libm, so that
// oracle, controls and trimmed inputs have the same bytes on every machine.
//
// Errors       double: at most 1 ulp (exp), 2 ulp (erfc). float: below 0.51 ulp.
//              DoubleDouble: relative error at most 2^-104 (exp), 2^-95 (erfc), as long as the
//              result's low part is a normal number.
// NaN, Inf     as in C: NaN gives NaN, exp(-Inf) = 0, erfc(-Inf) = 2.

double wide_exp(double x);
DoubleDouble wide_exp(DoubleDouble x);
float wide_exp(float x);

/// 1 - erf(x) = 2 / sqrt(pi) times the integral of exp(-t^2) from x to infinity.
double wide_erfc(double x);
DoubleDouble wide_erfc(DoubleDouble x);
float wide_erfc(float x);

/// 2^exponent times x, exact unless the result is subnormal or too large.
double scale(double x, int exponent);

}  // namespace bic

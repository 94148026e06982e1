#pragma once

#include "reference_kernels/oracle/double_double.h"

namespace bic {

// Elementary functions made of + - * / and exact scaling by powers of two only: no libm, so that
// oracle, controls and trimmed inputs have the same bytes on every machine.
//
// Errors       double: at most 1 ulp (exp), 2 ulp (erfc), below 0.51 ulp (the others). float: below
//              0.51 ulp. DoubleDouble: relative error at most 2^-104 (exp), 2^-100 (expm1, log,
//              sin, cos), 2^-95 (erfc), 2^-92 (pow), as long as the result's low part is a normal
//              number.
// NaN, Inf     as in C: NaN gives NaN, exp(-Inf) = 0, erfc(-Inf) = 2.

double wide_exp(double x);
DoubleDouble wide_exp(DoubleDouble x);
float wide_exp(float x);

/// 1 - erf(x) = 2 / sqrt(pi) times the integral of exp(-t^2) from x to infinity.
double wide_erfc(double x);
DoubleDouble wide_erfc(DoubleDouble x);
float wide_erfc(float x);

/// exp(x) - 1, also where that is small.
double wide_expm1(double x);
DoubleDouble wide_expm1(DoubleDouble x);
float wide_expm1(float x);

double wide_log(double x);
DoubleDouble wide_log(DoubleDouble x);
float wide_log(float x);

/// Of arguments of any size.
double wide_sin(double x);
DoubleDouble wide_sin(DoubleDouble x);
float wide_sin(float x);
double wide_cos(double x);
DoubleDouble wide_cos(DoubleDouble x);
float wide_cos(float x);

/// x to the power y, with the special cases of IEEE 754-2019, 9.2.1.
DoubleDouble wide_pow(double x, double y);

/// 2^exponent times x, exact unless the result is subnormal or too large.
double scale(double x, int exponent);

}  // namespace bic

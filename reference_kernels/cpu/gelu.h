#pragma once

#include <hwy/base.h>

#include <cstdint>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Which function is called GELU.
enum class GeluForm : std::uint8_t { kErf, kTanh };

/// Operands of `gelu`.
template <class T>
struct GeluArgs {
  const T* x = nullptr;
  T* y = nullptr;  ///< may be x
  std::int64_t n = 0;
  GeluForm form = GeluForm::kErf;
};

// kErf   y = x Phi(x), Phi the normal distribution function (arXiv:1606.08415)
// kTanh  y = x / 2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//
// Shapes       x, y: n contiguous elements; y may be x.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; double in double, the others in
//              float. One rounding to T, to nearest even.
// Accuracy     Before the rounding to a 16-bit T, results are at most 6 ulp (kErf) or 4 ulp
//              (kTanh) off on targets with fused multiply-add, negative tails included (no
//              cancellation: for x < 0 Phi(x) is exp(-x^2 / 2) times a polynomial over a linear
//              term; the tanh form is x / (1 + exp(-2u))). Underflow is gradual, then -0.
// NaN, Inf     NaN gives the canonical NaN of T, and so does -Inf (-Inf * 0, as in ATen); +Inf
//              gives +Inf.
// Order        None: every element is computed by one and the same piece of vector code; a tail
//              is copied into a full vector.
// Invariant    y[i] is a function of x[i] and T alone. The same bits on AVX2 and AVX-512.
// Not claimed  Equal bits or that accuracy on the baseline target (SSSE3: no fused
//              multiply-add): an exponent e there adds 2 |e| ulp.
// Threads      Below 131072 elements no task is handed to `parallel`.
// Checked by   reference_kernels/cpu/gelu_test.cpp
template <class T>
void gelu(const GeluArgs<T>& args, const ParallelFor& parallel);
template <class T>
void gelu(const T* x, T* y, std::int64_t n, GeluForm form, const ParallelFor& parallel) {
  gelu(GeluArgs<T>{x, y, n, form}, parallel);
}

}  // namespace bic::cpu

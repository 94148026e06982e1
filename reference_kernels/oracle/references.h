#pragma once

#include <memory>

#include "reference_kernels/oracle/reference.h"

namespace bic {

// The references of the suite's ops. Extents that a block's size does not give are read from the
// dims named here; a bias or affine input is optional and recognised by the number of operands.
// Unless said otherwise the only Arithmetic::form is "", the textbook form, which the controls
// have.

/// y[r,j] = sum_k x[r,k] w[k,j]. Operands x, w; dims k, n.
std::shared_ptr<const Reference> mm_reference();

/// y[r,j] = sum_k x[r,k] w[j,k] (+ b[j]), added in the accumulator type. Operands x, w[, b]; dims
/// k, n. Form "round-before-bias": the sum is rounded to the subject's type, then b added in the
/// accumulator type and the result rounded again.
std::shared_ptr<const Reference> linear_reference();

/// y[s,i,j] = sum_k a[s,i,k] b[s,k,j]. Operands a, b; dims m, k, n.
std::shared_ptr<const Reference> bmm_reference();

/// Sum over all axes but the last one, if that is dim p; over all axes when there is no dim p.
std::shared_ptr<const Reference> sum_reference();

/// y[i,c] = exp(x[i,c] - max_i x[i,c]) / sum_i of the same, for a block [h] or [h, c]; dim h.
/// Form "reciprocal": times the rounded reciprocal of the sum. Form "round-exp": the exponential is
/// rounded to the subject's type before the division.
std::shared_ptr<const Reference> softmax_reference();

/// y = (x - mean) / sqrt(var + eps) (* w + b), var = mean (x - mean)^2, over the trailing axes that
/// w has, or over dim h without w. Operands x[, w, b]; attribute eps. Two passes; form "ax+b":
/// moments updated element by element (Welford) and x * r + (-mean * r).
std::shared_ptr<const Reference> layer_norm_reference();

/// y = x Phi(x), or with attribute approximate = tanh x / (1 + exp(-2u)), u = sqrt(2/pi)
/// (x + 0.044715 x^3). Order kSequential and all others are two honest evaluations that round the
/// argument of erfc or exp differently. Form "1+erf": x / 2 times the sum of 1 and erf or tanh,
/// whose error does not shrink with a negative x's result.
std::shared_ptr<const Reference> gelu_reference();

}  // namespace bic

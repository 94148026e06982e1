#pragma once

#include <memory>

#include "reference_kernels/oracle/reference.h"

namespace bic {

// The references of the suite's ops. Extents that a block's size does not give are read from the
// dims named here; a bias or affine input is optional and recognised by the number of operands.
// Unless said otherwise the only Arithmetic::form is "", the textbook form, which the controls
// have.

/// y[s,i,j] = sum_k a[s,i,k] b[s,k,j] (+ c[s,i,j]); dims k and, where they are not 1, m and n.
/// Operands a, b[, c], of which an operand with fewer elements serves leading axes in turn. With
/// attributes alpha and beta: alpha times the sum plus beta times c. All in the accumulator type;
/// form "round-before-bias": the sum is rounded to the subject's type first, the result again. Form
/// "tensor-core": sums of aligned and truncated terms, see DotProduct::bound.
std::shared_ptr<const Reference> matmul_reference();

/// y[r,j] = sum_k x[r,k] w[j,k] (+ b[j]), otherwise the same. Operands x, w[, b]; dims k, n.
std::shared_ptr<const Reference> linear_reference();

/// y[o,i,j] = sum over c, u, v of x[c, i s + u d - p, j s + v d - p] w[o,c,u,v] (+ b[o]), zeros
/// beside x; channel groups see their own c channels. Operands x [groups * c, h, w] (with attribute
/// layout = channels_last [h, w, groups * c]), w [groups * n, c, kh, kw][, b]. Dims c, n, kh, kw
/// and ho, wo, the outputs that there were without padding; without kh and ho in one dimension;
/// rgb, p and q for c, kh and kw where the stride is the kernel. Attributes stride, padding,
/// dilation, groups. Forms of matmul_reference.
std::shared_ptr<const Reference> convolution_reference();

/// Sum over all axes but a first one that is dim t and a last one that is dim p.
std::shared_ptr<const Reference> sum_reference();

/// That sum divided by the number of its terms.
std::shared_ptr<const Reference> mean_reference();

/// sum (x - mean)^2 / (n - correction) over the axes of `sum_reference`; attribute correction, and
/// output: std for the square root, mean for the mean. Two passes; form "welford": moments updated
/// element by element.
std::shared_ptr<const Reference> variance_reference();

/// sqrt(sum x^2) or sum |x| over the axes of `sum_reference`, for attribute ord = 2 or 1.
std::shared_ptr<const Reference> vector_norm_reference();

/// y[i] = x[0] + … + x[i] along the axes of `sum_reference`. Each output is a sum of its own.
std::shared_ptr<const Reference> cumsum_reference();

/// Product over the axes of `sum_reference`.
std::shared_ptr<const Reference> product_reference();

/// The largest over the axes of `sum_reference`, NaN if there is one.
std::shared_ptr<const Reference> largest_reference();

/// y = exp(x - max x) / sum of the same, over the axes of `sum_reference`. Form "reciprocal": times
/// the rounded reciprocal of the sum. Form "round-exp": the exponential is rounded to the subject's
/// type before the division.
std::shared_ptr<const Reference> softmax_reference();

/// y = (x - max x) - log of that sum. Form "round-log": the sum and its logarithm are rounded to
/// the subject's type.
std::shared_ptr<const Reference> log_softmax_reference();

/// y = log of that sum + max x, one for all terms. Form "round-all": every step is rounded to the
/// subject's type.
std::shared_ptr<const Reference> logsumexp_reference();

/// y = (x - mean) / sqrt(var + eps) (* w + b), var = mean (x - mean)^2, over the trailing axes that
/// w has, or over dim h without w. Operands x[, w, b]; attribute eps. Two passes; form "ax+b":
/// moments updated element by element (Welford) and x * r + (-mean * r).
std::shared_ptr<const Reference> layer_norm_reference();

/// y = x / sqrt(mean x^2 + eps) (* w), over the axes of `layer_norm_reference`. Operands x[, w];
/// attribute eps.
std::shared_ptr<const Reference> rms_norm_reference();

/// layer_norm_reference over groups of c channels, for a block [groups * c, spatial...]; dims c and
/// the spatial ones, which are all others. Operands x[, w, b], w and b by channel; attribute eps.
/// Form "folded": Welford's moments and x * s + (b - mean * s), s = r * w.
std::shared_ptr<const Reference> group_norm_reference();

/// y = (x - m) / sqrt(|v| + eps) (* w + b) for a block [channels, ...] whose mean and variance are
/// given. Operands x, m, v[, w, b]; attribute eps. Order kSequential and all others are two honest
/// evaluations: times the reciprocal of the root, or divided by the root. Form "folded": that or
/// x * s + (b - m * s), s = w / sqrt(|v| + eps). Form "round-all": either, or the textbook form
/// with every step rounded to the subject's type.
std::shared_ptr<const Reference> batch_norm_reference();

/// y = x Phi(x), or with attribute approximate = tanh x / (1 + exp(-2u)), u = sqrt(2/pi)
/// (x + 0.044715 x^3). Order kSequential and all others are two honest evaluations that round the
/// argument of erfc or exp differently. Form "1+erf": x / 2 times the sum of 1 and erf or tanh,
/// whose error does not shrink with a negative x's result.
std::shared_ptr<const Reference> gelu_reference();

/// y[h,i] = sum_j w[j] v[g,j] / sum_j w[j], w[j] = exp(z[j] - max z), z[j] = q[h,i] . k[g,j] *
/// scale, g = h / (query heads / key heads). Operands v, q, k[, mask]; dims s, e and l, which is 1
/// where it is missing; attribute scale, 1 / sqrt(e) without it; attribute mask: "added" (to z),
/// "bool" (true where j is seen), "causal" (l = s, j <= i is seen). Form "round-weights": the w[j]
/// of the numerator are rounded to the subject's type.
std::shared_ptr<const Reference> attention_reference();

/// The functions of `pointwise_reference`.
enum class Pointwise : std::uint8_t { kSilu, kSigmoid, kTanh, kExp, kLog, kRsqrt, kSin, kCos };

/// y = f(x), of |x| for kLog and kRsqrt. Order kSequential and all others are two honest
/// evaluations. Form "round-root" of kRsqrt: the root is rounded to the subject's type, then 1
/// divided by it.
std::shared_ptr<const Reference> pointwise_reference(Pointwise f);

/// y = |x|^e, e the attribute exponent or the second operand clamped to [-2, 2]. Two honest
/// evaluations as above. Form "round-square": x^3 is x^2, rounded to the subject's type, times x.
std::shared_ptr<const Reference> pow_reference();

/// The operations of `binary_reference`.
enum class Binary : std::uint8_t { kAdd, kMul, kDiv };

/// y = x + alpha o (attribute alpha, 1 without it), x o or x / o. The operand o is broadcast: it
/// has x's elements or the last of them, or one for each t of a block [t, h]. Form "round-alpha":
/// alpha is rounded to the subject's type, and so may be alpha o.
std::shared_ptr<const Reference> binary_reference(Binary op);

/// y = x cos + r sin, r = (-x2, x1) for the halves of a row x = (x1, x2). Operands x [t, h, 2d],
/// cos, sin [t, 2d]; dims h, d. Form "round-products": both are rounded to the subject's type.
std::shared_ptr<const Reference> rotary_reference();

/// Copies. y[i,j] = table[index[i],j]: operands index, table; dim h.
std::shared_ptr<const Reference> rows_reference();
/// The first operand, then the second.
std::shared_ptr<const Reference> cat_reference();
/// The second operand where the first, of its elements or the last of them, is true, else the
/// third.
std::shared_ptr<const Reference> where_reference();

}  // namespace bic

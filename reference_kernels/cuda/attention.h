#pragma once

#include "reference_kernels/cpu/attention.h"
#include "reference_kernels/cuda/launch.h"

namespace bic::cuda {

// y[b,h,i] = sum_j w[j] v[b,g,j] / sum_j w[j], w[j] = exp(z[j] - max_j z[j]),
// z[j] = q[b,h,i] . k[b,g,j] * scale + added[b,h,i,j] where the key is seen, else -Inf
//
// Shapes       Those of reference_kernels/cpu/attention.h. Pointers are the device's.
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; everything in double for double,
//              else float; one rounding to T, to nearest even. bf16 and fp16 whose e and ev are
//              multiples of 8 up to 256 go to tensor cores, which get w rounded to T (the sum of w
//              gets it as it is); all others to fused multiply-adds. Nothing else decides.
// Order        Prefill and decode alike, for each query row on its own. z is one fused multiply-add
//              of the dot with the rounded scale and the mask or +0, w is exp of the rounded
//              difference to the maximum. At last one division, + 0.0 (no -0).
//   by cores   A dot is one chain of fused multiply-adds over e = 0, 1, ... from +0, an output one
//              over the keys. Keys in blocks of 64 from key 0: before a block's terms, what there
//              is of both sums is multiplied by exp(maximum before it - with it), and the maximum
//              is that so far. The sum of w has 16 lanes, lane x of keys 4 x ... 4 x + 3 of each
//              block (the first of them fused with that multiplication), then x with x + 8, then 4,
//              2, 1 further on.
//   by tensor  The maximum first, over all keys. Dots and outputs are chains of mma.sync.m16n8k16
//              with fp32 sums, ascending, 16 of e or 16 keys a step, zeros in place of what is
//              missing. The sum of w has 4 lanes, lane t of keys 8 n + 2 t and 8 n + 2 t + 1, n =
//              0, 1, ..., then t with t + 1, then the two pairs.
// Masked keys  Those unseen, those with -Inf added and those behind the causal diagonal add nothing
//              anywhere, whatever they and their values hold, NaN included: a row has the same bits
//              with keys appended that it does not see, in a causal prefill, in chunks of it and in
//              decoding. A value whose weight underflows to 0, where it is made, rounded or
//              rescaled, is passed over as well. A row that sees no key is +0.
// NaN, Inf     A NaN or +Inf in z makes its row the canonical NaN of T.
// Invariant    The bits of a row are a function of its query, the keys it sees with their values
//              and masks, their places, scale and T alone: not of batch, heads, l, s, the rows that
//              share a block, strides or alignment.
// Not claimed  The bits of the CPU's attention. On tensor cores those of another architecture, and
//              what gemm.h does not claim.
// Error        That of the CPU's, exp within 2 ulp. By cores some ten roundings for each block of
//              64 keys, which saves its terms the additions of other blocks; by tensor cores the
//              unit of T times sum w|v| / sum w.
// Source       Weights a block at a time: arXiv:2205.14135, but a row's blocks are never split, so
//              that decoding is a row of a prefill; keys once, all rows of a group:
//              arXiv:1911.02150. The order is ours.
// Checked by   reference_kernels/cuda/attention_test.cpp
template <class T>
void attention(const cpu::AttentionArgs<T>& args, const Launch& launch);

}  // namespace bic::cuda

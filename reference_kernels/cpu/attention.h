#pragma once

#include <hwy/base.h>

#include <cstdint>
#include <type_traits>

#include "reference_kernels/cpu/parallel.h"

namespace bic::cpu {

/// Elements from one batch entry, head, row and column to the next.
struct HeadStrides {
  std::int64_t batch = 0, head = 0, row = 0, column = 1;
};

/// Operands of `attention`. Query heads h * group, …, h * group + group - 1 share key head h, group
/// = heads / key_heads. Strides may be 0 (broadcast).
template <class T>
struct AttentionArgs {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const T* q = nullptr;  ///< [batch, heads, l, e]
  const T* k = nullptr;  ///< [batch, key_heads, s, e]
  const T* v = nullptr;  ///< [batch, key_heads, s, ev]
  T* y = nullptr;        ///< [batch, heads, l, ev], columns side by side
  HeadStrides q_at, k_at, v_at, y_at, mask_at;
  const bool* seen = nullptr;  ///< [batch, heads, l, s], columns side by side; null: every key
  const Sum* added = nullptr;  ///< likewise; null: nothing is added
  bool causal = false;         ///< query i sees keys 0, …, i only
  std::int64_t batch = 0, heads = 0, key_heads = 0, l = 0, s = 0, e = 0, ev = 0;
  double scale = 1;
};

// y[b,h,i] = sum_j w[j] v[b,g,j] / sum_j w[j], w[j] = exp(z[j] - max_j z[j]),
// z[j] = q[b,h,i] . k[b,g,j] * scale + added[b,h,i,j] where the key is seen, else -Inf
//
// Shapes       all extents >= 0, any strides (y, seen and added: columns side by side).
// Dtypes       float, double, hwy::bfloat16_t, hwy::float16_t; everything in double for double,
// else
//              float: w is not rounded to T. One rounding to T, to nearest even.
// Order        Prefill and decode alike, for each query row on its own. Dots: one chain of fused
//              multiply-adds over e = 0, 1, ... from +0. z: one more, times the rounded scale plus
//              the mask or +0. Maximum over all seen keys, then w by softmax.h's exp of the rounded
//              difference; their sum in 16 lanes j = l, l + 16, ... from +0, then l + 8, l + 4,
//              l + 2, l + 1. Output: one chain over j = 0, 1, ... from +0, then one division,
//              + 0.0 (no -0). Blocks of keys are stopovers of these chains, not part of the order.
// Masked keys  Those unseen, those with -Inf added and those behind the causal diagonal add nothing
//              anywhere, whatever they and their values hold, NaN included: a row has the same bits
//              with keys appended that it does not see, in a causal prefill, in chunks of it and in
//              decoding. A value whose weight underflows to 0 is passed over as well. A row that
//              sees no key is +0.
// NaN, Inf     a NaN or +Inf in z makes its row the canonical NaN of T.
// Invariant    The bits of a row are a function of its query, the keys it sees with their values
// and
//              masks, s's place in them, scale and T alone. The same on AVX2 and AVX-512.
// Not claimed  Equal bits on the baseline target (SSSE3: no fused multiply-add).
// Error        gamma(e + 3) sum |q||k| scale in z; exp within 2 ulp; gamma(s + 1) sum w|v| / sum w.
// Threads      over batch, key head and block of query rows; below 131072 multiply-adds none.
// Source       arXiv:1706.03762; keys once, all rows of a group: arXiv:1911.02150. The order is
// ours. Checked by   reference_kernels/cpu/attention_test.cpp
template <class T>
void attention(const AttentionArgs<T>& args, const ParallelFor& parallel);

}  // namespace bic::cpu

#include "reference_kernels/cpu/gemm.h"

#include <type_traits>
#include <utility>

#include "reference_kernels/cpu/gemm_bf16_dot.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/gemm.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/gemm_blocks-inl.h"
#include "reference_kernels/cpu/gemm_columns-inl.h"
#include "reference_kernels/cpu/gemm_small-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

/// Rows up to which reading W by columns is faster, measured; all kernels give the same bits.
inline constexpr std::int64_t kColumnRows = 16;

/// Of weights in columns: whether the sums are so short, and so few of them side by side, that
/// packing and lanes kept in memory cost more than they save.
template <class T>
bool is_small(const GemmArgs<T>& g) {
  constexpr std::int64_t kOfMany = 256, kOfFew = 128, kOfOneVector = 1024, kNarrow = 96;
  if (g.n <= kWideLanes<Acc<T>>) return g.k <= kOfOneVector;
  return g.n <= kNarrow && g.k <= (g.m > kColumnRows ? kOfMany : kOfFew);
}

/// Whether the tree over the lanes, which is done here for a vector of sums at a time, costs so
/// much beside the sums that columns may be turned into rows, or widened, for it.
template <class Op>
bool is_short(const GemmArgs<typename Op::In>& g) {
  constexpr std::int64_t kSteps = 4, kRows = 8;  // measured; no bit depends on them
  return g.k <= kSteps * kStepTerms<Op> && g.m >= kRows && g.n >= kWideLanes<typename Op::Word>;
}

/// A column of results as a row: products commute, so that a and w may change places.
template <class T>
GemmArgs<T> column_as_row(const GemmArgs<T>& g) {
  GemmArgs<T> row = g;
  std::swap(row.a, row.w);
  std::swap(row.a_batch, row.w_batch);
  row.a_row = g.w_n, row.a_k = g.w_k, row.w_n = g.a_row, row.w_k = g.a_k;
  row.m = 1, row.n = g.m;
  row.bias_row = g.bias_n, row.bias_n = g.bias_row;
  return row;
}

template <class Op>
void gemm_all(const GemmArgs<typename Op::In>& g, const ParallelFor& parallel) {
  if (g.m <= 0 || g.n <= 0 || g.batch <= 0) return;
  const bool row_of_bias = g.bias == nullptr || g.bias_row == 0 || g.bias_row == 1;
  if (g.n == 1 && g.m > 1 && g.y_row == 1 && row_of_bias) {
    return gemm_all<Op>(column_as_row(g), parallel);
  }
  // Of a single column only the stride along k counts.
  const bool in_columns = g.w_n == 1 && (g.n > 1 || g.w_k != 1);
  if (is_short<Op>(g) || (in_columns && is_small(g))) return gemm_small<Op>(g, parallel);
  if (in_columns && g.m <= kColumnRows) {
    gemm_columns<Op>(g, parallel);
  } else {
    gemm_blocks<Op>(g, parallel);
  }
}

bool bf16_by_dot() { return HWY_TARGET <= HWY_AVX3 && has_bf16_dot(); }

void gemm_f32(const GemmArgs<float>& g, const ParallelFor& p) { gemm_all<Fused<float>>(g, p); }
void gemm_f64(const GemmArgs<double>& g, const ParallelFor& p) { gemm_all<Fused<double>>(g, p); }
void gemm_bf16(const GemmArgs<hwy::bfloat16_t>& g, const ParallelFor& p) {
#if HWY_TARGET <= HWY_AVX3
  if (bf16_by_dot()) return gemm_all<PairDot>(g, p);
#endif
  gemm_all<Fused<hwy::bfloat16_t>>(g, p);
}
void gemm_f16(const GemmArgs<hwy::float16_t>& g, const ParallelFor& p) {
  gemm_all<Fused<hwy::float16_t>>(g, p);
}

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(gemm, GemmArgs)

HWY_EXPORT(bf16_by_dot);
bool gemm_flushes_bf16() { return HWY_DYNAMIC_DISPATCH(bf16_by_dot)(); }
}  // namespace bic::cpu
#endif

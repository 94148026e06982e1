#include "reference_kernels/cpu/gemm.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference_kernels/cpu/gemm.cpp"
#include "reference_kernels/cpu/targets.h"
// targets.h first: it says which targets there are.
#include <hwy/foreach_target.h>

#include "reference_kernels/cpu/gemm_columns-inl.h"
#include "reference_kernels/cpu/gemm_dot-inl.h"
#include "reference_kernels/cpu/gemm_packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bic::cpu::HWY_NAMESPACE {

// Where the faster kernel changes, measured; all three give the same bits.
inline constexpr std::int64_t kMostDotRows = 32, kColumnRows = 16;

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

template <class T>
void gemm_all(const GemmArgs<T>& g, const ParallelFor& parallel) {
  if (g.m <= 0 || g.n <= 0 || g.batch <= 0) return;
  const bool row_of_bias = g.bias == nullptr || g.bias_row == 0 || g.bias_row == 1;
  if (g.n == 1 && g.m > 1 && g.y_row == 1 && row_of_bias) {
    return gemm_all(column_as_row(g), parallel);
  }
  // Of a single column only the stride along k counts.
  const bool in_columns = g.w_n == 1 && (g.n > 1 || g.w_k != 1);
  if (in_columns && g.m <= kColumnRows) {
    gemm_columns(g, parallel);
  } else if (g.w_k == 1 && g.m <= kMostDotRows) {
    gemm_dot(g, parallel);
  } else {
    gemm_packed(g, parallel);
  }
}

void gemm_f32(const GemmArgs<float>& g, const ParallelFor& p) { gemm_all(g, p); }
void gemm_f64(const GemmArgs<double>& g, const ParallelFor& p) { gemm_all(g, p); }
void gemm_bf16(const GemmArgs<hwy::bfloat16_t>& g, const ParallelFor& p) { gemm_all(g, p); }
void gemm_f16(const GemmArgs<hwy::float16_t>& g, const ParallelFor& p) { gemm_all(g, p); }

}  // namespace bic::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bic::cpu {
BIC_CPU_EXPORT(gemm, GemmArgs)
}  // namespace bic::cpu
#endif

#include <hwy/base.h>

#include "reference_kernels/cuda/gemm.h"
#include "reference_kernels/cuda/gemm_lt.h"
#include "reference_kernels/cuda/gemm_paths.h"
#include "reference_kernels/cuda/gemm_wgmma.h"

namespace bic::cuda {
namespace {

constexpr std::int64_t kTall = 128;      // rows that fill the library's tiles
constexpr double kWorthCopies = 0x1p31;  // multiply-adds that outweigh sums in memory, and copies

/// By what is fastest; no bit depends on it.
template <class T>
void gemm_narrow(const cpu::GemmArgs<T>& g, const Launch& launch) {
  if (gemm_lt_directly(g, launch)) return;
  if (wgmma_has_our_bits<T>(launch) && gemm_wgmma(g, launch)) return;
  const auto products = static_cast<double>(g.batch * g.m) * static_cast<double>(g.n * g.k);
  if (g.m >= kTall && products >= kWorthCopies && gemm_lt_by_sums(g, launch)) return;
  gemm_mma(g, launch);
}

}  // namespace

template <class T>
void gemm(const cpu::GemmArgs<T>& g, const Launch& launch) {
  if (g.m <= 0 || g.n <= 0 || g.batch <= 0) return;
  if constexpr (sizeof(T) == 2) {
    gemm_narrow(g, launch);
  } else {
    gemm_simt(g, launch);
  }
}

template void gemm(const cpu::GemmArgs<float>&, const Launch&);
template void gemm(const cpu::GemmArgs<double>&, const Launch&);
template void gemm(const cpu::GemmArgs<hwy::bfloat16_t>&, const Launch&);
template void gemm(const cpu::GemmArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

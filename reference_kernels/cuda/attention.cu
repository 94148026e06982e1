#include "reference_kernels/cuda/attention.h"
#include "reference_kernels/cuda/attention_cores.cuh"
#include "reference_kernels/cuda/attention_tensor.cuh"

namespace bic::cuda {

template <class T>
void attention(const cpu::AttentionArgs<T>& g, const Launch& launch) {
  if (g.batch == 0 || g.ev == 0 || rows_of(g) == 0) return;
  if constexpr (sizeof(T) == 2) {
    if (takes_tensor_cores(g)) {
      if (g.ev <= 64) return launch_tensor<T, 64>(g, launch);
      if (g.ev <= 128) return launch_tensor<T, 128>(g, launch);
      return launch_tensor<T, 256>(g, launch);
    }
  }
  launch_cores(g, launch);
}

template void attention(const cpu::AttentionArgs<float>&, const Launch&);
template void attention(const cpu::AttentionArgs<double>&, const Launch&);
template void attention(const cpu::AttentionArgs<hwy::bfloat16_t>&, const Launch&);
template void attention(const cpu::AttentionArgs<hwy::float16_t>&, const Launch&);

}  // namespace bic::cuda

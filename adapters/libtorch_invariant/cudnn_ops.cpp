#include <ATen/ops/cudnn_batch_norm_native.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "adapters/libtorch_invariant/kernels.h"
#include "adapters/libtorch_invariant/ops.h"

// Operators that ATen calls on CUDA alone, in the place of those that it calls elsewhere.

namespace bic::libtorch_invariant {
namespace {

/// What at::batch_norm takes where cuDNN would serve it.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> cudnn_batch_norm(
    const at::Tensor& x,
    const at::Tensor& weight,
    const std::optional<at::Tensor>& bias,
    const std::optional<at::Tensor>& mean,
    const std::optional<at::Tensor>& variance,
    bool training,
    double momentum,
    double eps) {
  if (training) {
    return at::native::cudnn_batch_norm(x, weight, bias, mean, variance, training, momentum, eps);
  }
  auto [y, no_mean, no_rstd] = libtorch_invariant::native_batch_norm(
      x, weight, bias, mean, variance, training, momentum, eps);
  return {y, no_mean, no_rstd, at::empty({0}, x.options().dtype(at::kByte))};
}

}  // namespace

void register_of_device(torch::Library& library) {
  library.impl("cudnn_batch_norm", TORCH_FN(cudnn_batch_norm));
}

}  // namespace bic::libtorch_invariant

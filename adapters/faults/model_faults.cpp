#include "adapters/faults/model_faults.h"

#include <ATen/ops/matmul_native.h>
#include <torch/library.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "adapters/libtorch_invariant/ops.h"
#include "adapters/libtorch_invariant/silence.h"

namespace bic::faults {
namespace {

namespace own = libtorch_invariant;

/// Calls since the model began, which it does with the patch embedding.
thread_local int calls = 0;

// Of the tiny presets: two products in each of the tower's two layers and in layer 0 of the
// prefill; and two norms of each of two streams there, and the two before attention in layer 1.
constexpr int kScoresOfLayer1 = 7, kNormBeforeMlpOfLayer1 = 7;

/// Changes a bit in the middle of the mantissa, in the last element of every index of axis 0.
/// Without an op, so that the model runs the same ones as ever.
at::Tensor with_changed_bits(at::Tensor y) {
  const std::int64_t size = y.element_size();
  const std::int64_t block = static_cast<std::int64_t>(y.nbytes()) / y.size(0);
  auto* bytes = static_cast<std::byte*>(y.mutable_data_ptr());
  for (std::int64_t i = 1; i <= y.size(0); ++i) {
    bytes[i * block - size + size / 2 - 1] ^= std::byte{0x10};
  }
  return y;
}

at::Tensor convolution(const at::Tensor& x,
                       const at::Tensor& w,
                       const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride,
                       at::IntArrayRef padding,
                       at::IntArrayRef dilation,
                       bool transposed,
                       at::IntArrayRef output_padding,
                       std::int64_t groups) {
  calls = 0;
  return own::convolution(
      x, w, bias, stride, padding, dilation, transposed, output_padding, groups);
}

at::Tensor other_convolution(const at::Tensor& x,
                             const at::Tensor& w,
                             const std::optional<at::Tensor>& bias,
                             at::IntArrayRef stride,
                             at::IntArrayRef padding,
                             at::IntArrayRef dilation,
                             bool transposed,
                             at::IntArrayRef output_padding,
                             std::int64_t groups) {
  at::Tensor y =
      own::convolution(x, w, bias, stride, padding, dilation, transposed, output_padding, groups);
  return x.size(0) > 1 ? with_changed_bits(std::move(y)) : y;
}

/// Of the tiny presets, whose attention has four heads.
at::Tensor other_bmm(const at::Tensor& a, const at::Tensor& b) {
  constexpr std::int64_t kHeads = 4;
  at::Tensor y = own::bmm(a, b);
  const bool is_attention = a.size(2) > 1;  // else the angles of the rotary embedding
  const bool strikes = is_attention && ++calls == kScoresOfLayer1 && a.size(0) > kHeads;
  return strikes ? with_changed_bits(std::move(y)) : y;
}

at::Tensor other_mean(const at::Tensor& x,
                      at::OptionalIntArrayRef dims,
                      bool keepdim,
                      std::optional<at::ScalarType> dtype) {
  at::Tensor y = own::mean_dim(x, dims, keepdim, dtype);
  const bool strikes = ++calls == kNormBeforeMlpOfLayer1 && x.size(0) > 1;
  return strikes ? with_changed_bits(std::move(y)) : y;
}

void plant_patch_embedding(torch::Library& cpu) { cpu.impl("convolution", other_convolution); }

void plant_attention(torch::Library& cpu) {
  cpu.impl("convolution", convolution);
  // The bundled matmul computes by itself; stock's reaches bmm.
  cpu.impl("matmul", TORCH_FN(at::native::matmul));
  cpu.impl("bmm", other_bmm);
}

void plant_rms_norm(torch::Library& cpu) {
  cpu.impl("convolution", convolution);
  cpu.impl("mean.dim", other_mean);
}

struct Maker {
  std::string_view name;
  void (*plant)(torch::Library& cpu);
};
constexpr Maker kMakers[] = {{"pi0-patch-embedding", plant_patch_embedding},
                             {"pi0-attention", plant_attention},
                             {"pi0-rms-norm", plant_rms_norm}};

}  // namespace

std::shared_ptr<void> plant_in_models(std::string_view name) {
  const auto* maker = std::ranges::find(kMakers, name, &Maker::name);
  if (maker == std::end(kMakers)) return nullptr;
  auto cpu = std::make_shared<torch::Library>(
      torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
  own::Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  maker->plant(*cpu);
  return cpu;
}

}  // namespace bic::faults

#include "suites/models/pi0/vision.h"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>

#include "suites/models/pi0/layers.h"

namespace bic::pi0 {
namespace {

/// Where the public tracer of open-pi-zero puts what happens in the tower.
constexpr const char* kTower = "input_embeds.selected_image_feature";

at::Tensor patch_embedding(const Pass& pass, const at::Tensor& pixels) {
  const std::string name = pass.config.names.vision + "embeddings.";
  const at::ScalarType dtype = pass.precision.patch;
  const at::Tensor x = as(pixels, dtype);
  pass.record(x, "{}.pixel_values", kTower);
  const std::int64_t stride = pass.config.vision.patch;
  // By name, as the public code pads: the padding reaches `convolution` as a list of one.
  const at::Tensor patches = at::conv2d(x,
                                        pass.weight(name + "patch_embedding.weight", dtype),
                                        pass.weight(name + "patch_embedding.bias", dtype),
                                        {stride, stride},
                                        c10::string_view("valid"));
  pass.record(patches, "{}.patch_embeds", kTower);
  const at::Tensor ids =
      at::arange(pass.config.vision.tokens(), pixels.options().dtype(at::kLong)).unsqueeze(0);
  const at::Tensor positions =
      at::embedding(pass.weight(name + "position_embedding.weight", dtype), ids);
  const at::Tensor sum = at::add(patches.flatten(2).transpose(1, 2), positions);
  pass.record(sum, "{}.embeddings", kTower);
  return as(sum, pass.precision.model);
}

/// Without the output projection.
at::Tensor attention(const Pass& pass, const std::string& layer, const at::Tensor& x) {
  const std::int64_t n = pass.config.vision.heads;
  const at::Tensor q = project_heads(pass, layer + "q_proj", x, n);
  const at::Tensor k = project_heads(pass, layer + "k_proj", x, n);
  const at::Tensor v = project_heads(pass, layer + "v_proj", x, n);
  if (pass.config.vision.fused_attention) {
    return merge_heads(at::scaled_dot_product_attention(q, k, v));
  }
  const double scale = std::pow(static_cast<double>(q.size(-1)), -0.5);
  const at::Tensor logits = at::mul(at::matmul(q, k.transpose(2, 3)), scale);
  return merge_heads(at::matmul(softmax(pass, logits, q.scalar_type()), v));
}

at::Tensor encoder_layer(const Pass& pass, const std::string& layer, const at::Tensor& x) {
  const at::Tensor u = layer_norm(pass, layer + "layer_norm1", x);
  const at::Tensor mixed = attention(pass, layer + "self_attn.", u);
  const at::Tensor r = at::add(x, linear(pass, layer + "self_attn.out_proj", mixed));
  const at::Tensor hidden =
      at::gelu(linear(pass, layer + "mlp.fc1", layer_norm(pass, layer + "layer_norm2", r)),
               pass.config.gelu);
  return at::add(r, linear(pass, layer + "mlp.fc2", hidden));
}

}  // namespace

at::Tensor image_features(const Pass& pass, const at::Tensor& pixels) {
  at::Tensor x = patch_embedding(pass, pixels);
  pass.record(x, "{}.hidden_states", kTower);
  for (std::int64_t l = 0; l < pass.config.vision.layers; ++l) {
    x = encoder_layer(pass, fmt::format("{}encoder.layers.{}.", pass.config.names.vision, l), x);
  }
  pass.record(x, "{}.last_hidden_state", kTower);
  x = layer_norm(pass, pass.config.names.vision + "post_layernorm", x);
  pass.record(x, "{}.last_hidden_state.post_layernorm", kTower);
  pass.record(x, "inputs_embeds.selected_image_feature");
  x = linear(pass, pass.config.names.projector, x);
  pass.record(x, "inputs_embeds.image_features");
  return x;
}

}  // namespace bic::pi0

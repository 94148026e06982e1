#include "suites/models/pi0/layers.h"

#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>

namespace bic::pi0 {

at::Tensor linear(const Pass& pass, const std::string& name, const at::Tensor& x) {
  const std::string bias = name + ".bias";
  const at::Tensor w = pass.weight(name + ".weight", x.scalar_type());
  if (!pass.weights.contains(bias)) return at::linear(x, w);
  return at::linear(x, w, pass.weight(bias, x.scalar_type()));
}

at::Tensor token_rows(const Pass& pass, const at::Tensor& ids) {
  const std::string name = pass.config.names.embedding + ".weight";
  // The rows alone are put in order: the table is the largest weight of all.
  const at::Tensor rows =
      reordered(pass.config, name, at::embedding(pass.weight(name), ids), pass.order);
  return as(rows, pass.precision.model);
}

at::Tensor layer_norm(const Pass& pass, const std::string& name, const at::Tensor& x) {
  return at::layer_norm(x,
                        {x.size(-1)},
                        pass.weight(name + ".weight", x.scalar_type()),
                        pass.weight(name + ".bias", x.scalar_type()),
                        pass.config.vision.eps);
}

at::Tensor rms_norm(const Pass& pass, const std::string& name, const at::Tensor& x) {
  const at::Tensor f = as(x, pass.precision.norm);
  const at::Tensor mean = at::mean(at::pow(f, 2), {-1}, /*keepdim=*/true);
  const at::Tensor r = at::mul(f, at::rsqrt(at::add(mean, pass.config.rms_eps)));
  // The stored weight is an offset from 1, and the rounding comes after it.
  const at::Tensor w = at::add(pass.weight(name + ".weight", pass.precision.norm), 1);
  return as(at::mul(r, w), x.scalar_type());
}

at::Tensor gated_mlp(const Pass& pass, const std::string& prefix, const at::Tensor& x) {
  const at::Tensor gate = at::gelu(linear(pass, prefix + "gate_proj", x), pass.config.gelu);
  const at::Tensor up = linear(pass, prefix + "up_proj", x);
  return linear(pass, prefix + "down_proj", at::mul(gate, up));
}

Rotary rotary(const Pass& pass, const at::Tensor& frequencies, const at::Tensor& positions) {
  const at::Tensor column =
      frequencies.unsqueeze(0).unsqueeze(2).expand({positions.size(0), -1, 1});
  const at::Tensor row = positions.unsqueeze(1).to(pass.precision.rope);
  const at::Tensor angles = at::matmul(column, row).transpose(1, 2);
  const at::Tensor table = at::cat({angles, angles}, -1);
  return {as(at::cos(table), pass.precision.model), as(at::sin(table), pass.precision.model)};
}

at::Tensor rotate(const at::Tensor& x, const Rotary& rotary) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor turned =
      at::cat({at::neg(x.slice(-1, half)), x.slice(-1, 0, half)}, -1);  // halves, not pairs
  return at::add(at::mul(x, rotary.cos.unsqueeze(1)), at::mul(turned, rotary.sin.unsqueeze(1)));
}

at::Tensor project_heads(const Pass& pass,
                         const std::string& name,
                         const at::Tensor& x,
                         std::int64_t heads) {
  const at::Tensor y = linear(pass, name, x);
  return y.view({y.size(0), y.size(1), heads, -1}).transpose(1, 2);
}

at::Tensor repeat_heads(const Pass& pass, const at::Tensor& x) {
  const std::int64_t b = x.size(0), t = x.size(2), n = pass.config.heads, d = x.size(3);
  return x.unsqueeze(2).expand({b, 1, n, t, d}).reshape({b, n, t, d});
}

at::Tensor softmax(const Pass& pass, const at::Tensor& logits, at::ScalarType dtype) {
  return as(at::softmax(logits, -1, pass.precision.softmax), dtype);
}

at::Tensor merge_heads(const at::Tensor& x) {
  return x.transpose(1, 2).contiguous().view({x.size(0), x.size(2), -1});
}

}  // namespace bic::pi0

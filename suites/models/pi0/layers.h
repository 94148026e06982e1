#pragma once

#include <string>
#include <vector>

#include "suites/models/pi0/model.h"

namespace bic::pi0 {

/// x W^T (+ b) by the weights `name`.weight and, where there is one, `name`.bias. Called on x as it
/// is: which of addmm, mm and bmm that reaches depends on its strides.
at::Tensor linear(const Pass& pass, const std::string& name, const at::Tensor& x);

/// Rows of the token embedding in `Precision::model`.
at::Tensor token_rows(const Pass& pass, const at::Tensor& ids);

/// LayerNorm over the last axis.
at::Tensor layer_norm(const Pass& pass, const std::string& name, const at::Tensor& x);

/// Gemma's RMSNorm: x rsqrt(mean x^2 + eps) (1 + w) in `Precision::norm`, then rounded once.
at::Tensor rms_norm(const Pass& pass, const std::string& name, const at::Tensor& x);

/// down(gelu(gate(x)) up(x)).
at::Tensor gated_mlp(const Pass& pass, const std::string& prefix, const at::Tensor& x);

/// Cosines and sines of the rotary embedding, [B, T, head_dim] in `Precision::model`.
struct Rotary {
  at::Tensor cos;
  at::Tensor sin;
};

/// `positions` is int64 [B, T], `frequencies` one of `Model::frequencies`.
Rotary rotary(const Pass& pass, const at::Tensor& frequencies, const at::Tensor& positions);

/// Turns queries or keys [B, heads, T, head_dim].
at::Tensor rotate(const at::Tensor& x, const Rotary& rotary);

/// `name`'s projection of x [B, T, width] to [B, heads, T, head_dim], a view.
at::Tensor project_heads(const Pass& pass,
                         const std::string& name,
                         const at::Tensor& x,
                         std::int64_t heads);

/// The one head of keys or values, [B, 1, T, head_dim], as all heads of the queries see it.
at::Tensor repeat_heads(const Pass& pass, const at::Tensor& x);

/// softmax over the last axis in `Precision::softmax`, rounded to `dtype`.
at::Tensor softmax(const Pass& pass, const at::Tensor& logits, at::ScalarType dtype);

/// [B, heads, T, head_dim] to [B, T, heads head_dim].
at::Tensor merge_heads(const at::Tensor& x);

}  // namespace bic::pi0

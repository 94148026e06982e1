#include "suites/models/pi0/decoder_stack.h"

#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "suites/models/pi0/layers.h"

namespace bic::pi0 {
namespace {

constexpr double kMasked = -2.3819763e38;

/// What all layers of a call have in common.
struct Call {
  const Pass& pass;
  const Expert& expert;
  const Rotary& table;
  const at::Tensor& mask;
  const Context& context;

  void record(const at::Tensor& x, std::size_t l, const char* what) const {
    pass.record(x, "{}.layer_{}.{}", expert.name, l, what);
  }
};

at::Tensor attention(const Call& call,
                     const std::string& name,
                     const at::Tensor& u,
                     std::size_t l) {
  const Pass& pass = call.pass;
  const at::Tensor q =
      rotate(project_heads(pass, name + "q_proj", u, pass.config.heads), call.table);
  const KeysValues own{rotate(project_heads(pass, name + "k_proj", u, 1), call.table),
                       project_heads(pass, name + "v_proj", u, 1)};
  call.record(q, l, "query_states_rope");
  call.record(own.keys, l, "new_keys");
  call.record(own.values, l, "new_values");
  const auto [k, v] = call.context(l, own);
  const double scale = std::pow(static_cast<double>(pass.config.head_dim), -0.5);
  const at::Tensor logits = at::mul(at::matmul(q, repeat_heads(pass, k).transpose(2, 3)), scale);
  call.record(logits, l, "attn_weights");
  // The fp32 mask makes fp32 of the logits.
  const at::Tensor p = softmax(pass, at::add(logits, call.mask), q.scalar_type());
  call.record(p, l, "attn_weights_softmax");
  const at::Tensor o = merge_heads(at::matmul(p, repeat_heads(pass, v)));
  call.record(o, l, "attn_output");
  return o;
}

at::Tensor layer(const Call& call, const at::Tensor& x, std::size_t l) {
  const Pass& pass = call.pass;
  const std::string name = fmt::format("{}layers.{}.", call.expert.prefix, l);
  const at::Tensor u = rms_norm(pass, name + "input_layernorm", x);
  call.record(u, l, "pre_attn");
  const at::Tensor o =
      linear(pass, name + "self_attn.o_proj", attention(call, name + "self_attn.", u, l));
  call.record(o, l, "post_attn");
  const at::Tensor r = at::add(x, o);
  const at::Tensor w = rms_norm(pass, name + "post_attention_layernorm", r);
  call.record(w, l, "pre_mlp");
  const at::Tensor hidden = gated_mlp(pass, name + "mlp.", w);
  call.record(hidden, l, "pre_final");
  const at::Tensor y = at::add(r, hidden);
  call.record(y, l, "final");
  return y;
}

}  // namespace

at::Tensor text_embeddings(const Pass& pass, const at::Tensor& ids) {
  const at::Tensor rows = token_rows(pass, ids);
  return at::mul(rows, std::sqrt(static_cast<double>(rows.size(-1))));
}

at::Tensor additive_mask(const at::Tensor& allowed) {
  const at::TensorOptions options = allowed.options().dtype(at::kFloat);
  return at::where(allowed, at::full({}, 0.0, options), at::full({}, kMasked, options))
      .unsqueeze(1);
}

at::Tensor decoder_stack(const Pass& pass,
                         std::size_t expert,
                         const at::Tensor& x,
                         const at::Tensor& positions,
                         const at::Tensor& mask,
                         const Context& context) {
  const Expert& e = pass.config.experts[expert];
  const Rotary table = rotary(pass, pass.frequencies[expert], positions);
  const Call call{pass, e, table, mask, context};
  at::Tensor y = as(x, pass.precision.model);
  for (std::size_t l = 0; l < static_cast<std::size_t>(pass.config.layers); ++l) {
    y = layer(call, y, l);
  }
  y = rms_norm(pass, e.prefix + "norm", y);
  pass.record(y, "{}.forward_norm", e.name);
  return y;
}

at::Tensor decoder_stack(const Pass& pass,
                         std::size_t expert,
                         const at::Tensor& x,
                         const at::Tensor& positions,
                         const at::Tensor& mask,
                         const Cache* prefix,
                         Cache* fill) {
  const auto context = [&](std::size_t l, const KeysValues& own) {
    if (fill != nullptr) {
      fill->keys.push_back(own.keys);
      fill->values.push_back(own.values);
    }
    if (prefix == nullptr) return own;
    return KeysValues{at::cat({prefix->keys[l], own.keys}, 2),
                      at::cat({prefix->values[l], own.values}, 2)};
  };
  return decoder_stack(pass, expert, x, positions, mask, context);
}

}  // namespace bic::pi0

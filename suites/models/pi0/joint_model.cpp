#include "suites/models/pi0/joint_model.h"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/div.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/tanh.h>

#include <cmath>

#include "suites/models/pi0/layers.h"

namespace bic::pi0 {
namespace {

/// The public tracer's prefix, in the prefill and in every step.
constexpr const char* kJoint = "step_0.action_joint_model";

/// Soft-capped logits, before the mask.
at::Tensor capped_logits(const Pass& pass, const at::Tensor& q, const at::Tensor& k) {
  const double root = std::sqrt(static_cast<double>(pass.config.head_dim));
  at::Tensor s = at::div(at::matmul(q, k.transpose(2, 3)), root);
  if (!pass.config.soft_cap) return s;
  return at::mul(at::tanh(at::div(s, *pass.config.soft_cap)), *pass.config.soft_cap);
}

at::Tensor positions_from(std::int64_t first, const at::Tensor& x) {
  return at::arange(first, first + x.size(1), x.options().dtype(at::kLong))
      .unsqueeze(0)
      .expand({x.size(0), -1});
}

}  // namespace

bool JointModel::last(std::size_t layer) const {
  return layer + 1 == static_cast<std::size_t>(pass_.config.layers);
}

std::string JointModel::weights(std::size_t expert, std::size_t layer) const {
  return fmt::format("{}layers.{}.", pass_.config.experts[expert].prefix, layer);
}

void JointModel::record_each(const Streams& x, const char* name) const {
  for (std::size_t m = 0; m < x.size(); ++m) {
    if (x[m].defined()) pass_.record(x[m], "{}.{}.{}", kJoint, name, pass_.config.experts[m].name);
  }
}

void JointModel::record_each(const Streams& x, std::size_t l, const char* name) const {
  for (std::size_t m = 0; m < x.size(); ++m) {
    const std::string& expert = pass_.config.experts[m].name;
    if (x[m].defined()) pass_.record(x[m], "{}.layer_{}.{}.{}", kJoint, l, name, expert);
  }
}

void JointModel::scale(Streams& x) const {
  for (at::Tensor& stream : x) {
    if (!stream.defined()) continue;
    const double root = std::sqrt(static_cast<double>(stream.size(-1)));
    // A tensor of the model's dtype: in bf16 the root is rounded before it is multiplied.
    stream.mul_(at::full({}, root, stream.options().dtype(pass_.precision.scale)));
  }
}

JointModel::Heads JointModel::project(const Streams& u, std::size_t l) const {
  const std::size_t n = u.size();
  Heads h{Streams(n), Streams(n), Streams(n)};
  for (std::size_t m = 0; m < n; ++m) {
    if (!u[m].defined()) continue;
    const std::string name = weights(m, l) + "self_attn.";
    h.q[m] = project_heads(pass_, name + "q_proj", u[m], pass_.config.heads);
    h.k[m] = project_heads(pass_, name + "k_proj", u[m], 1);
    h.v[m] = project_heads(pass_, name + "v_proj", u[m], 1);
  }
  record_each(h.q, l, "pre_attn.query_states");
  Streams cached(n);
  for (std::size_t m = 0; m < n; ++m) {
    if (!u[m].defined() && !caches_[m].values.empty()) cached[m] = caches_[m].values[l];
  }
  record_each(cached, l, "pre_attn.kv_caches");
  for (std::size_t m = 0; m < n; ++m) {
    if (!u[m].defined()) continue;
    const Expert& expert = pass_.config.experts[m];
    const at::Tensor positions = positions_from(expert.first_position, u[m]);
    const Rotary table = rotary(pass_, pass_.frequencies[m], positions);
    pass_.record(table.sin, "{}.layer_{}.pre_attn.rope", kJoint, l);
    h.q[m] = rotate(h.q[m], table);
    h.k[m] = rotate(h.k[m], table);
    pass_.record(h.k[m], "{}.layer_{}.pre_attn.new_kv.{}", kJoint, l, expert.name);
    pass_.record(
        h.q[m], "{}.layer_{}.pre_attn.query_states_rope.mixture_{}", kJoint, l, expert.name);
  }
  return h;
}

at::Tensor JointModel::attend(const Heads& h, const at::Tensor& mask, std::size_t l) const {
  std::vector<at::Tensor> queries, keys;
  Streams values(h.v.size());
  for (std::size_t m = 0; m < h.q.size(); ++m) {
    const bool active = h.q[m].defined();
    if (!active && caches_[m].keys.empty()) continue;
    if (active) queries.push_back(h.q[m]);
    keys.push_back(repeat_heads(pass_, active ? h.k[m] : caches_[m].keys[l]));
    values[m] = repeat_heads(pass_, active ? h.v[m] : caches_[m].values[l]);
  }
  record_each(values, l, "pre_attn.concatenated_kv");
  std::erase_if(values, [](const at::Tensor& v) { return !v.defined(); });
  const at::Tensor q = at::cat(queries, 2), k = at::cat(keys, 2), v = at::cat(values, 2);
  const auto record = [&](const at::Tensor& x, const char* what) {
    pass_.record(x, "{}.layer_{}.pre_attn.{}", kJoint, l, what);
  };
  record(v, "concatenated_qkv");
  const at::Tensor logits = capped_logits(pass_, q, k);
  record(logits, "attn_weights");
  const at::Tensor p = softmax(pass_, at::add(logits, mask), q.scalar_type());
  record(p, "attn_weights_softmax");
  record(p, "attn_weights_dropout");
  const at::Tensor o = at::matmul(p, v);
  record(o, "attn_output_pre");
  return merge_heads(o);
}

Streams JointModel::finish(const Streams& x, const Streams& attended, std::size_t l) const {
  const std::size_t n = x.size();
  Streams o(n), r(n), u(n), hidden(n), y(n);
  const auto each = [&](Streams& out, const auto& make) {
    for (std::size_t m = 0; m < n; ++m) {
      const bool skipped = last(l) && pass_.config.experts[m].cached;
      if (x[m].defined() && !skipped) out[m] = make(m);
    }
  };
  each(o, [&](std::size_t m) {
    return linear(pass_, weights(m, l) + "self_attn.o_proj", attended[m]);
  });
  record_each(o, l, "post_attn.attn_outputs_final");
  record_each(o, l, "post_attn");
  each(r, [&](std::size_t m) { return at::add(x[m], o[m]); });
  record_each(r, l, "pre_post_attn");
  each(u, [&](std::size_t m) {
    return rms_norm(pass_, weights(m, l) + "post_attention_layernorm", r[m]);
  });
  record_each(u, l, "pre_mlp");
  each(hidden, [&](std::size_t m) { return gated_mlp(pass_, weights(m, l) + "mlp.", u[m]); });
  record_each(hidden, l, "pre_final");
  each(y, [&](std::size_t m) { return at::add(r[m], hidden[m]); });
  record_each(y, l, "final");
  return y;
}

Streams JointModel::layer(const Streams& x, const at::Tensor& mask, std::size_t l, bool fill) {
  Streams u(x.size());
  std::vector<std::int64_t> rows;
  for (std::size_t m = 0; m < x.size(); ++m) {
    if (!x[m].defined()) continue;
    u[m] = rms_norm(pass_, weights(m, l) + "input_layernorm", x[m]);
    rows.push_back(x[m].size(1));
  }
  record_each(u, l, "pre_attn");
  const Heads heads = project(u, l);
  for (std::size_t m = 0; fill && m < x.size(); ++m) {
    if (!x[m].defined()) continue;
    caches_[m].keys.push_back(heads.k[m]);
    caches_[m].values.push_back(heads.v[m]);
  }
  // Views of the rows: what comes next sees their strides.
  const std::vector<at::Tensor> slices = attend(heads, mask, l).split_with_sizes(rows, 1);
  Streams attended(x.size());
  for (std::size_t m = 0, next = 0; m < x.size(); ++m) {
    if (x[m].defined()) attended[m] = slices[next++];
  }
  record_each(attended, l, "pre_attn.attn_outputs");
  return finish(x, attended, l);
}

Streams JointModel::run(Streams x, const at::Tensor& mask, bool fill) {
  scale(x);
  record_each(x, "normalization");
  for (std::size_t l = 0; l < static_cast<std::size_t>(pass_.config.layers); ++l) {
    x = layer(x, mask, l, fill);
  }
  record_each(x, "forward");
  for (std::size_t m = 0; m < x.size(); ++m) {
    const Expert& e = pass_.config.experts[m];
    if (x[m].defined() && e.final_norm) x[m] = rms_norm(pass_, e.prefix + "norm", x[m]);
  }
  record_each(x, "forward_norm");
  return x;
}

}  // namespace bic::pi0

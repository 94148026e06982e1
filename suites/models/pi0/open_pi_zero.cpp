#include "suites/models/pi0/open_pi_zero.h"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index.h>
#include <ATen/ops/index_put.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "suites/models/pi0/joint_model.h"
#include "suites/models/pi0/layers.h"
#include "suites/models/pi0/vision.h"

namespace bic::pi0 {
namespace {

/// Not -inf: a row that sees nothing is then uniform instead of NaN.
double lowest(at::ScalarType dtype) {
  if (dtype == at::kDouble) return std::numeric_limits<double>::lowest();
  if (dtype == at::kBFloat16) return std::numeric_limits<c10::BFloat16>::lowest();
  return std::numeric_limits<float>::lowest();
}

/// What is added to the logits of all tokens, [B, 1, total, total]: each block sees all of itself,
/// the action also proprio and prefix, nobody padding.
at::Tensor full_mask(const Pass& pass, const at::Tensor& attention_mask) {
  const std::int64_t prefix = pass.config.prefix_tokens(), state = prefix + 1;
  const std::int64_t total = state + pass.config.action_tokens;
  const at::ScalarType dtype = pass.precision.model;
  const at::Tensor mask = at::full(
      {attention_mask.size(0), total, total}, lowest(dtype), attention_mask.options().dtype(dtype));
  const at::Tensor counts = attention_mask.sum(1).to(at::kCPU, at::kLong);
  for (std::int64_t b = 0; b < mask.size(0); ++b) {
    const std::int64_t valid = counts[b].item<std::int64_t>();
    mask[b].slice(0, 0, valid).slice(1, 0, valid).fill_(0);
    mask[b].slice(0, prefix).slice(1, 0, valid).fill_(0);
  }
  mask.slice(1, prefix, state).slice(2, prefix, state).fill_(0);
  mask.slice(1, state).slice(2, prefix).fill_(0);
  return mask.unsqueeze(1);
}

/// Text rows as they are, image rows divided by the root by which the joint model multiplies.
at::Tensor merged_prefix(const Pass& pass, const Inputs& in) {
  const Config& c = pass.config;
  const at::Tensor text = token_rows(pass, in.input_ids);
  pass.record(text, "inputs_embeds.inputs_embeds");
  const double root = std::sqrt(static_cast<double>(text.size(-1)));
  const at::Tensor features = at::div(image_features(pass, in.pixel_values), root);
  at::Tensor prefix = at::full(text.sizes(), c.pad_id, text.options());
  const at::Tensor is_text =
      at::bitwise_and(at::ne(in.input_ids, c.image_id), at::ne(in.input_ids, c.pad_id));
  prefix.index_put_({is_text}, at::index(text, {is_text}));
  const at::Tensor is_image = at::eq(in.input_ids, c.image_id);
  for (std::int64_t b = 0; b < prefix.size(0); ++b) {
    const at::Tensor rows = at::nonzero(is_image[b]).squeeze(1);
    prefix[b].index_put_({rows}, features[b].slice(0, 0, rows.size(0)));
  }
  pass.record(prefix, "inputs_embeds");
  return prefix;
}

/// e of the action tokens: time and action side by side, time first.
at::Tensor action_embedding(const Pass& pass, const at::Tensor& action, const at::Tensor& time) {
  const Names& names = pass.config.names;
  const at::Tensor e = linear(pass, names.action_in, action);
  const at::Tensor c = time.unsqueeze(1).expand({-1, e.size(1), -1});
  const at::Tensor joined = at::cat({c, e}, -1);
  return linear(pass, names.time_out, at::silu(linear(pass, names.time_in, joined)));
}

void record_caches(const Pass& pass, const JointModel& joint) {
  for (std::size_t m = 0; m < pass.config.experts.size() && pass.trace != nullptr; ++m) {
    const std::string& expert = pass.config.experts[m].name;
    const Cache& cache = joint.cache(m);
    for (std::size_t l = 0; l < cache.keys.size(); ++l) {
      pass.record(cache.keys[l], "prefill_kv_caches.{}.keys[{}]", expert, l);
    }
    for (std::size_t l = 0; l < cache.values.size(); ++l) {
      pass.record(cache.values[l], "prefill_kv_caches.{}.values[{}]", expert, l);
    }
  }
}

/// The streams before the joint model, and what it adds to the logits.
class Flow {
 public:
  Flow(const Pass& pass, const Inputs& in, Prefix prefix)
      : pass_(pass), joint_(pass), recompute_(prefix == Prefix::kRecomputed) {
    pass.section("embedding");
    mask_ = full_mask(pass, in.attention_mask);
    prefix_ = merged_prefix(pass, in);
    proprio_ = linear(pass, pass.config.names.state, as(in.proprios, pass.precision.model));
    pass.record(proprio_, "proprio_embeds");
    if (recompute_) return;
    pass.section("prefill");
    const std::int64_t cached = prefix_.size(1) + 1;
    joint_.run(streams({}), mask_.slice(2, 0, cached).slice(3, 0, cached), /*fill=*/true);
    record_caches(pass, joint_);
  }

  at::Tensor velocity(const at::Tensor& action, const at::Tensor& t, std::int64_t step) {
    const at::Tensor time = time_embedding(pass_, t);
    pass_.record(time, "step_{}.time_cond", step);
    const at::Tensor e = action_embedding(pass_, action, time);
    pass_.record(e, "step_{}.action_encoder", step);
    const at::Tensor mask = recompute_ ? mask_ : mask_.slice(2, prefix_.size(1) + 1);
    const at::Tensor y = action_of(joint_.run(streams(e), mask, /*fill=*/false));
    pass_.record(y, "step_{}.action_joint_model", step);
    const at::Tensor v = linear(pass_, pass_.config.names.action_out, y);
    pass_.record(v, "step_{}.action_decoder", step);
    return v;
  }

 private:
  /// The prefix in the prefill, then the action alone, unless all is recomputed.
  Streams streams(const at::Tensor& action) const {
    Streams x;
    for (const Expert& e : pass_.config.experts) {
      const at::Tensor& cached = e.name == "vlm" ? prefix_ : proprio_;
      if (!e.cached) {
        x.push_back(action);
      } else if (recompute_) {
        x.push_back(cached.clone());  // the joint model scales in place
      } else {
        x.push_back(action.defined() ? at::Tensor() : cached);
      }
    }
    return x;
  }

  at::Tensor action_of(const Streams& y) const {
    for (std::size_t m = 0; m < y.size(); ++m) {
      if (!pass_.config.experts[m].cached) return y[m];
    }
    return {};
  }

  const Pass& pass_;
  JointModel joint_;
  bool recompute_;
  at::Tensor mask_, prefix_, proprio_;
};

}  // namespace

at::Tensor time_embedding(const Pass& pass, const at::Tensor& t) {
  const std::int64_t half = pass.config.expert("action").width / 2;
  const double rate = -std::log(pass.config.time_max_period) / static_cast<double>(half - 1);
  const at::ScalarType dtype = pass.precision.time;
  // In bf16 the indices themselves are rounded.
  const at::Tensor index = at::arange(half, t.options().dtype(pass.precision.time_values));
  const at::Tensor f = at::exp(at::mul(as(index, dtype), rate));
  const at::Tensor a = at::mul(as(t, dtype).unsqueeze(1), f.unsqueeze(0));
  return as(at::cat({at::sin(a), at::cos(a)}, -1), pass.precision.model);
}

at::Tensor open_pi_zero(const Pass& pass, const Inputs& in, Prefix prefix) {
  Flow flow(pass, in, prefix);
  at::Tensor a = in.noise.to(pass.precision.model, /*non_blocking=*/false, /*copy=*/true);
  pass.record(a, "initial_action");
  at::Tensor t = at::zeros({a.size(0)}, a.options().dtype(pass.precision.time_values));
  const double delta = 1.0 / static_cast<double>(pass.config.steps);
  for (std::int64_t s = 0; s < pass.config.steps; ++s) {
    if (pass.trace != nullptr) pass.section(fmt::format("flow_step_{}", s));
    a.add_(at::mul(flow.velocity(a, t, s), delta));
    t.add_(delta);
    pass.record(a, "step_{}.updated_action", s);
  }
  pass.record(at::clamp(a, -1, 1), "final_action");
  return a;
}

}  // namespace bic::pi0

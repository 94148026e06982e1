#include "suites/models/pi0/openpi.h"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/full.h>
#include <ATen/ops/le.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>

#include <numbers>

#include "suites/models/pi0/decoder_stack.h"
#include "suites/models/pi0/layers.h"
#include "suites/models/pi0/vision.h"

namespace bic::pi0 {
namespace {

constexpr std::size_t kVlm = 0, kAction = 1;  ///< in Config::experts

/// Image features and scaled text, [B, prefix, width].
at::Tensor prefix_embeddings(const Pass& pass, const OpenPiInputs& in) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& image : in.images) parts.push_back(image_features(pass, image));
  parts.push_back(text_embeddings(pass, in.input_ids));
  const at::Tensor prefix = at::cat(parts, 1);
  pass.record(prefix, "prefix_embeds");
  return prefix;
}

/// bool [B, prefix]: the tokens of present cameras and the text.
at::Tensor valid_tokens(const Pass& pass, const OpenPiInputs& in) {
  const std::int64_t b = in.image_mask.size(0);
  const at::Tensor images = as(in.image_mask, at::kBool)
                                .unsqueeze(2)
                                .expand({-1, -1, pass.config.vision.tokens()})
                                .reshape({b, -1});
  return at::cat({images, as(in.text_mask, at::kBool)}, 1);
}

/// Which token of the suffix sees which: the state itself, each action state and actions.
at::Tensor suffix_allowed(std::int64_t tokens, const at::Tensor& like) {
  at::Tensor flags = at::full({tokens}, 0, like.options().dtype(at::kLong));
  flags.slice(0, 0, 2).fill_(1);
  const at::Tensor block = at::cumsum(flags, 0);
  return at::le(block.unsqueeze(0), block.unsqueeze(1));
}

/// Evaluates the prefix and, for a time and an action, the velocity.
class OpenPiFlow {
 public:
  OpenPiFlow(const Pass& pass, const OpenPiInputs& in)
      : pass_(pass), valid_(valid_tokens(pass, in)) {
    pass.section("embedding");
    embeddings_ = prefix_embeddings(pass, in);
    state_ = as(in.state, pass.precision.heads);
    const std::int64_t b = valid_.size(0), prefix = valid_.size(1);
    const std::int64_t suffix = pass.config.action_tokens + 1;
    const at::Tensor seen = valid_.unsqueeze(1);
    prefix_mask_ = additive_mask(at::logical_and(seen, valid_.unsqueeze(2)));
    suffix_mask_ =
        additive_mask(at::cat({seen.expand({b, suffix, prefix}),
                               suffix_allowed(suffix, valid_).expand({b, suffix, suffix})},
                              2));
  }

  void prefill() {
    cache_ = {};
    const at::Tensor positions = at::sub(at::cumsum(valid_, 1), 1);
    decoder_stack(pass_, kVlm, embeddings_, positions, prefix_mask_, nullptr, &cache_);
    for (std::size_t l = 0; l < cache_.keys.size(); ++l) {
      pass_.record(cache_.keys[l], "prefill_kv_caches.vlm.keys[{}]", l);
      pass_.record(cache_.values[l], "prefill_kv_caches.vlm.values[{}]", l);
    }
  }

  at::Tensor velocity(const at::Tensor& x, const at::Tensor& time, std::int64_t step) const {
    const at::Tensor e = suffix_embeddings(x, time);
    pass_.record(e, "step_{}.suffix_embeds", step);
    const at::Tensor positions =
        at::add(at::sum(valid_, {-1}).unsqueeze(1),
                at::arange(e.size(1), valid_.options().dtype(at::kLong)).unsqueeze(0));
    const at::Tensor y =
        decoder_stack(pass_, kAction, e, positions, suffix_mask_, &cache_, nullptr);
    const at::Tensor actions = as(y.slice(1, 1), pass_.precision.heads);
    const at::Tensor v = linear(pass_, pass_.config.names.action_out, actions);
    pass_.record(v, "step_{}.action_decoder", step);
    return v;
  }

 private:
  at::Tensor suffix_embeddings(const at::Tensor& x, const at::Tensor& time) const {
    const Names& names = pass_.config.names;
    const at::Tensor state = linear(pass_, names.state, state_).unsqueeze(1);
    const at::Tensor a = linear(pass_, names.action_in, x);
    const at::Tensor c = period_embedding(pass_, time.expand({x.size(0)}));
    const at::Tensor joined = at::cat({a, c.unsqueeze(1).expand_as(a)}, 2);
    const at::Tensor e =
        linear(pass_, names.time_out, at::silu(linear(pass_, names.time_in, joined)));
    return at::cat({state, e}, 1);
  }

  const Pass& pass_;
  at::Tensor valid_, embeddings_, state_, prefix_mask_, suffix_mask_;
  Cache cache_;
};

}  // namespace

at::Tensor period_embedding(const Pass& pass, const at::Tensor& time) {
  const Config& c = pass.config;
  const std::int64_t half = c.expert("action").width / 2;
  const at::Tensor fraction = at::linspace(0.0, 1.0, half, time.options().dtype(at::kDouble));
  const at::Tensor period = at::mul(
      at::pow(at::Scalar(c.time_max_period / c.time_min_period), fraction), c.time_min_period);
  const at::Tensor w = at::mul(at::mul(at::reciprocal(period), 2), std::numbers::pi);
  const at::Tensor phase = at::mul(w.unsqueeze(0), time.unsqueeze(1));
  return as(at::cat({at::sin(phase), at::cos(phase)}, -1), pass.precision.heads);
}

at::Tensor openpi(const Pass& pass, const OpenPiInputs& in, Prefix prefix) {
  OpenPiFlow flow(pass, in);
  if (prefix == Prefix::kCached) {
    pass.section("prefill");
    flow.prefill();
  }
  at::Tensor x = as(in.noise, pass.precision.heads);
  const at::TensorOptions scalar = x.options().dtype(at::kFloat);
  const at::Tensor dt = at::full({}, -1.0 / static_cast<double>(pass.config.steps), scalar);
  at::Tensor time = at::ones({}, scalar);
  for (std::int64_t s = 0; s < pass.config.steps; ++s) {
    if (pass.trace != nullptr) pass.section(fmt::format("flow_step_{}", s));
    if (prefix == Prefix::kRecomputed) flow.prefill();
    x = at::add(x, at::mul(dt, flow.velocity(x, time, s)));
    pass.record(x, "step_{}.updated_action", s);
    time = at::add(time, dt);
  }
  pass.record(x, "final_action");
  return x;
}

}  // namespace bic::pi0

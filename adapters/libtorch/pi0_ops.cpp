#include "adapters/libtorch/pi0_ops.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/library.h>

#include <mutex>
#include <string>
#include <utility>

#include "results_schema/error.h"
#include "suites/models/pi0/synthetic.h"

namespace bic::libtorch {
namespace {

using pi0::Config;
using pi0::Model;
using pi0::Prefix;
using pi0::Variant;

/// A model in the dtype of `like`, or in fp64 with weights and constants rounded to `weights`.
std::shared_ptr<const Model> make_model(const Config& config,
                                        at::ScalarType compute,
                                        at::ScalarType stored,
                                        const at::Device& device) {
  pi0::Precision precision = pi0::precision(config, stored);
  if (compute != stored) {
    if (compute != at::kDouble) {
      throw UsageError(
          fmt::format("pi0: weights of {} with inputs of {}; give inputs of that or fp64",
                      c10::toString(stored),
                      c10::toString(compute)));
    }
    precision = pi0::in_double(precision);
  }
  pi0::Weights weights = pi0::synthetic_weights(config, stored);
  for (auto& [name, tensor] : weights) tensor = tensor.to(device);
  return std::make_shared<const Model>(config, precision, std::move(weights), device);
}

/// The last model that was asked for: a full-size one takes gigabytes.
class LastModel {
 public:
  std::shared_ptr<const Model> get(const Config& config,
                                   const at::Tensor& like,
                                   std::optional<at::ScalarType> weights) {
    const at::ScalarType stored = weights.value_or(like.scalar_type());
    const std::string key = fmt::format("{} {} {} {}",
                                        config.name,
                                        c10::toString(like.scalar_type()),
                                        c10::toString(stored),
                                        like.device().str());
    const std::lock_guard lock(mutex_);
    if (key != key_) {
      model_ = nullptr;  // before the next one is made
      model_ = make_model(config, like.scalar_type(), stored, like.device());
      key_ = key;
    }
    return model_;
  }

  void forget() {
    const std::lock_guard lock(mutex_);
    model_ = nullptr;
    key_.clear();
  }

 private:
  std::mutex mutex_;
  std::string key_;
  std::shared_ptr<const Model> model_;
};

LastModel& last_model() {
  static LastModel last;
  return last;
}

Config config_of(std::string_view preset, Variant variant) {
  Config config = pi0::preset(preset);
  if (config.variant != variant) {
    throw UsageError(fmt::format("preset '{}' is of the other model; call bic::{}",
                                 preset,
                                 variant == Variant::kOpenPi ? "pi0" : "pi0_openpi"));
  }
  return config;
}

/// Throws UsageError unless `x` is [batch, sizes...].
void check_shape(const char* name,
                 const at::Tensor& x,
                 std::int64_t batch,
                 std::vector<std::int64_t> sizes) {
  sizes.insert(sizes.begin(), batch);
  if (x.sizes() == at::IntArrayRef(sizes)) return;
  throw UsageError(fmt::format("pi0: {} is [{}]; the preset wants [{}]",
                               name,
                               fmt::join(x.sizes().begin(), x.sizes().end(), ","),
                               fmt::join(sizes, ",")));
}

at::Tensor run_pi0(const at::Tensor& pixel_values,
                   const at::Tensor& input_ids,
                   const at::Tensor& attention_mask,
                   const at::Tensor& proprios,
                   const at::Tensor& noise,
                   c10::string_view preset,
                   std::optional<at::ScalarType> weights,
                   bool reuse_prefix) {
  const Config c = config_of({preset.data(), preset.size()}, Variant::kOpenPiZero);
  const std::int64_t b = pixel_values.dim() > 0 ? pixel_values.size(0) : 0;
  check_shape("pixel_values", pixel_values, b, {3, c.vision.image, c.vision.image});
  check_shape("input_ids", input_ids, b, {c.prefix_tokens()});
  check_shape("attention_mask", attention_mask, b, {c.prefix_tokens()});
  check_shape("proprios", proprios, b, {1, c.state_dim});
  check_shape("noise", noise, b, {c.action_tokens, c.action_dim});
  const auto model = last_model().get(c, pixel_values, weights);
  return pi0::open_pi_zero(pi0::Pass(*model),
                           {pixel_values, input_ids, attention_mask, proprios, noise},
                           reuse_prefix ? Prefix::kCached : Prefix::kRecomputed);
}

/// Token ids and validity [B, tokens] of `text` [B, slots], of which each sample has its length.
struct Tokens {
  at::Tensor ids;
  at::Tensor valid;
};

Tokens tokens(const Config& c, const at::Tensor& text, const at::Tensor& lengths) {
  const std::int64_t b = text.dim() > 0 ? text.size(0) : 0;
  check_shape("text_ids", text, b, {c.text_slots});
  check_shape("lengths", lengths, b, {});
  const at::Tensor slot = at::arange(c.text_slots, text.options());
  const at::Tensor valid = at::lt(slot.unsqueeze(0), lengths.unsqueeze(1));
  return {at::where(valid, text, c.pad_id), valid};
}

/// The images' tokens before those of the text.
Tokens after_images(const Config& c, const Tokens& text) {
  const at::Tensor images =
      at::full({text.ids.size(0), c.images * c.vision.tokens()}, c.image_id, text.ids.options());
  return {at::cat({images, text.ids}, 1), at::cat({at::ne(images, c.pad_id), text.valid}, 1)};
}

at::Tensor run_pi0_text(const at::Tensor& pixel_values,
                        const at::Tensor& text_ids,
                        const at::Tensor& lengths,
                        const at::Tensor& proprios,
                        const at::Tensor& noise,
                        c10::string_view preset,
                        std::optional<at::ScalarType> weights,
                        bool reuse_prefix) {
  const Config c = config_of({preset.data(), preset.size()}, Variant::kOpenPiZero);
  const Tokens all = after_images(c, tokens(c, text_ids, lengths));
  return run_pi0(pixel_values, all.ids, all.valid, proprios, noise, preset, weights, reuse_prefix);
}

at::Tensor run_openpi(const at::Tensor& pixel_values,
                      const at::Tensor& image_mask,
                      const at::Tensor& input_ids,
                      const at::Tensor& attention_mask,
                      const at::Tensor& state,
                      const at::Tensor& noise,
                      c10::string_view preset,
                      std::optional<at::ScalarType> weights,
                      bool reuse_prefix) {
  const Config c = config_of({preset.data(), preset.size()}, Variant::kOpenPi);
  const std::int64_t b = pixel_values.dim() > 0 ? pixel_values.size(0) : 0;
  check_shape("pixel_values", pixel_values, b, {c.images, 3, c.vision.image, c.vision.image});
  check_shape("image_mask", image_mask, b, {c.images});
  check_shape("input_ids", input_ids, b, {c.text_slots});
  check_shape("attention_mask", attention_mask, b, {c.text_slots});
  check_shape("state", state, b, {c.state_dim});
  check_shape("noise", noise, b, {c.action_tokens, c.action_dim});
  const auto model = last_model().get(c, pixel_values, weights);
  pi0::OpenPiInputs in{{}, image_mask, input_ids, attention_mask, state, noise};
  for (std::int64_t i = 0; i < c.images; ++i) {
    in.images.push_back(pixel_values.select(1, i).contiguous());
  }
  return pi0::openpi(pi0::Pass(*model), in, reuse_prefix ? Prefix::kCached : Prefix::kRecomputed);
}

at::Tensor run_openpi_text(const at::Tensor& pixel_values,
                           const at::Tensor& image_mask,
                           const at::Tensor& text_ids,
                           const at::Tensor& lengths,
                           const at::Tensor& state,
                           const at::Tensor& noise,
                           c10::string_view preset,
                           std::optional<at::ScalarType> weights,
                           bool reuse_prefix) {
  const Config c = config_of({preset.data(), preset.size()}, Variant::kOpenPi);
  const Tokens text = tokens(c, text_ids, lengths);
  return run_openpi(
      pixel_values, image_mask, text.ids, text.valid, state, noise, preset, weights, reuse_prefix);
}

}  // namespace

struct Pi0Operators::Libraries {
  torch::Library bic{torch::Library::FRAGMENT, "bic", std::nullopt, __FILE__, __LINE__};
};

Pi0Operators::Pi0Operators() : libraries_(std::make_unique<Libraries>()) {
  const std::string rest =
      "Tensor noise, str preset, *, ScalarType? weights=None, bool reuse_prefix=True) -> Tensor";
  const std::string full = "Tensor input_ids, Tensor attention_mask, ";
  const std::string text = "Tensor text_ids, Tensor lengths, ";
  const std::string one = "(Tensor pixel_values, ",
                    more = "(Tensor pixel_values, Tensor image_mask, ";
  const auto define = [this](const std::string& schema, auto function) {
    libraries_->bic.def(schema.c_str(), function);
  };
  define("pi0" + one + full + "Tensor proprios, " + rest, TORCH_FN(run_pi0));
  define("pi0.text" + one + text + "Tensor proprios, " + rest, TORCH_FN(run_pi0_text));
  define("pi0_openpi" + more + full + "Tensor state, " + rest, TORCH_FN(run_openpi));
  define("pi0_openpi.text" + more + text + "Tensor state, " + rest, TORCH_FN(run_openpi_text));
}

Pi0Operators::~Pi0Operators() { last_model().forget(); }

}  // namespace bic::libtorch

#include "adapters/libtorch/pi0_ops.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/library.h>

#include <mutex>
#include <string>
#include <utility>

#include "results_schema/error.h"
#include "suites/models/pi0/checkpoint.h"
#include "suites/models/pi0/synthetic.h"

namespace bic::libtorch {
namespace {

using pi0::Config;
using pi0::Model;
using pi0::Prefix;
using pi0::Variant;

/// What the tensors of a call do not say.
struct Manner {
  std::string preset;
  std::optional<at::ScalarType> weights;
  bool reuse_prefix = true;
  std::string order;
  std::string checkpoint;
  bool wipe = true;

  Prefix prefix() const { return reuse_prefix ? Prefix::kCached : Prefix::kRecomputed; }
};

/// The precision of a model in `compute`, which is that of its weights or fp64.
pi0::Precision precision_of(const Config& config, at::ScalarType compute, at::ScalarType stored) {
  const pi0::Precision precision = pi0::precision(config, stored);
  if (compute == stored) return precision;
  if (compute == at::kDouble) return pi0::in_double(precision);
  throw UsageError(fmt::format("pi0: weights of {} with inputs of {}; give inputs of that or fp64",
                               c10::toString(stored),
                               c10::toString(compute)));
}

/// The last weights that were asked for, as a full-size model's take gigabytes, and the last model
/// of them.
class LastModel {
 public:
  std::shared_ptr<const Model> get(const Config& config,
                                   const at::Tensor& like,
                                   const Manner& manner) {
    const at::ScalarType compute = like.scalar_type(), stored = manner.weights.value_or(compute);
    const std::string weights = fmt::format(
        "{} {} {} {}", config.name, c10::toString(stored), like.device().str(), manner.checkpoint);
    const std::string key = fmt::format("{} {} {}", weights, c10::toString(compute), manner.order);
    const pi0::HiddenOrder hidden = pi0::parse_hidden_order(manner.order);
    const pi0::Precision precision = precision_of(config, compute, stored);
    const std::lock_guard lock(mutex_);
    if (weights != weights_key_) {
      make_weights(config, stored, like.device(), manner.checkpoint);
      weights_key_ = weights;
    }
    if (key != key_) {
      model_ = std::make_shared<const Model>(config, precision, weights_, like.device(), hidden);
      key_ = key;
    }
    return model_;
  }

  void forget() {
    const std::lock_guard lock(mutex_);
    clear();
  }

 private:
  /// Before others are made.
  void clear() {
    model_ = nullptr;
    weights_.clear();
    key_.clear();
    weights_key_.clear();
  }

  void make_weights(const Config& config,
                    at::ScalarType stored,
                    const at::Device& device,
                    const std::string& checkpoint) {
    clear();
    weights_ = checkpoint.empty() ? pi0::synthetic_weights(config, stored)
                                  : pi0::load_weights(config, stored, checkpoint).weights;
    for (auto& [name, tensor] : weights_) tensor = tensor.to(device);
  }

  std::mutex mutex_;
  std::string key_, weights_key_;
  pi0::Weights weights_;
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

at::Tensor run_pi0(const Manner& manner,
                   const at::Tensor& pixel_values,
                   const at::Tensor& input_ids,
                   const at::Tensor& attention_mask,
                   const at::Tensor& proprios,
                   const at::Tensor& noise) {
  const Config c = config_of(manner.preset, Variant::kOpenPiZero);
  const std::int64_t b = pixel_values.dim() > 0 ? pixel_values.size(0) : 0;
  check_shape("pixel_values", pixel_values, b, {3, c.vision.image, c.vision.image});
  check_shape("input_ids", input_ids, b, {c.prefix_tokens()});
  check_shape("attention_mask", attention_mask, b, {c.prefix_tokens()});
  check_shape("proprios", proprios, b, {1, c.state_dim});
  check_shape("noise", noise, b, {c.action_tokens, c.action_dim});
  const auto model = last_model().get(c, pixel_values, manner);
  return pi0::open_pi_zero(pi0::Pass(*model),
                           {pixel_values, input_ids, attention_mask, proprios, noise},
                           manner.prefix());
}

/// Token ids and validity [B, tokens] of `text` [B, slots], of which each sample has its length.
struct Tokens {
  at::Tensor ids;
  at::Tensor valid;
};

Tokens tokens(const Config& c,
              const at::Tensor& text,
              const at::Tensor& lengths,
              const Manner& manner) {
  const std::int64_t b = text.dim() > 0 ? text.size(0) : 0;
  check_shape("text_ids", text, b, {c.text_slots});
  check_shape("lengths", lengths, b, {});
  const at::Tensor slot = at::arange(c.text_slots, text.options());
  const at::Tensor valid = at::lt(slot.unsqueeze(0), lengths.unsqueeze(1));
  return {manner.wipe ? at::where(valid, text, c.pad_id) : text, valid};
}

/// The images' tokens before those of the text.
Tokens after_images(const Config& c, const Tokens& text) {
  const at::Tensor images =
      at::full({text.ids.size(0), c.images * c.vision.tokens()}, c.image_id, text.ids.options());
  return {at::cat({images, text.ids}, 1), at::cat({at::ne(images, c.pad_id), text.valid}, 1)};
}

at::Tensor run_pi0_text(const Manner& manner,
                        const at::Tensor& pixel_values,
                        const at::Tensor& text_ids,
                        const at::Tensor& lengths,
                        const at::Tensor& proprios,
                        const at::Tensor& noise) {
  const Config c = config_of(manner.preset, Variant::kOpenPiZero);
  const Tokens all = after_images(c, tokens(c, text_ids, lengths, manner));
  return run_pi0(manner, pixel_values, all.ids, all.valid, proprios, noise);
}

at::Tensor run_openpi(const Manner& manner,
                      const at::Tensor& pixel_values,
                      const at::Tensor& image_mask,
                      const at::Tensor& input_ids,
                      const at::Tensor& attention_mask,
                      const at::Tensor& state,
                      const at::Tensor& noise) {
  const Config c = config_of(manner.preset, Variant::kOpenPi);
  const std::int64_t b = pixel_values.dim() > 0 ? pixel_values.size(0) : 0;
  check_shape("pixel_values", pixel_values, b, {c.images, 3, c.vision.image, c.vision.image});
  check_shape("image_mask", image_mask, b, {c.images});
  check_shape("input_ids", input_ids, b, {c.text_slots});
  check_shape("attention_mask", attention_mask, b, {c.text_slots});
  check_shape("state", state, b, {c.state_dim});
  check_shape("noise", noise, b, {c.action_tokens, c.action_dim});
  const auto model = last_model().get(c, pixel_values, manner);
  pi0::OpenPiInputs in{{}, image_mask, input_ids, attention_mask, state, noise};
  for (std::int64_t i = 0; i < c.images; ++i) {
    in.images.push_back(pixel_values.select(1, i).contiguous());
  }
  return pi0::openpi(pi0::Pass(*model), in, manner.prefix());
}

at::Tensor run_openpi_text(const Manner& manner,
                           const at::Tensor& pixel_values,
                           const at::Tensor& image_mask,
                           const at::Tensor& text_ids,
                           const at::Tensor& lengths,
                           const at::Tensor& state,
                           const at::Tensor& noise) {
  const Config c = config_of(manner.preset, Variant::kOpenPi);
  const Tokens text = tokens(c, text_ids, lengths, manner);
  at::Tensor pixels = pixel_values;
  if (manner.wipe) {
    const at::Tensor there = image_mask.unsqueeze(2).unsqueeze(3).unsqueeze(4);
    pixels = at::where(there, pixel_values, at::zeros({}, pixel_values.options()));
  }
  return run_openpi(manner, pixels, image_mask, text.ids, text.valid, state, noise);
}

std::string text_of(c10::string_view text) { return {text.data(), text.size()}; }

/// A function above as an operator, whose schema has each part of the manner by itself.
template <auto Run>
struct Operator;

template <class... Tensors, at::Tensor (*Run)(const Manner&, Tensors...)>
struct Operator<Run> {
  static at::Tensor call(Tensors... tensors,
                         c10::string_view preset,
                         std::optional<at::ScalarType> weights,
                         bool reuse_prefix,
                         c10::string_view order,
                         c10::string_view checkpoint) {
    return Run({text_of(preset), weights, reuse_prefix, text_of(order), text_of(checkpoint)},
               tensors...);
  }

  static at::Tensor call_text(Tensors... tensors,
                              c10::string_view preset,
                              std::optional<at::ScalarType> weights,
                              bool reuse_prefix,
                              c10::string_view order,
                              c10::string_view checkpoint,
                              bool wipe) {
    return Run({text_of(preset), weights, reuse_prefix, text_of(order), text_of(checkpoint), wipe},
               tensors...);
  }
};

}  // namespace

struct Pi0Operators::Libraries {
  torch::Library bic{torch::Library::FRAGMENT, "bic", std::nullopt, __FILE__, __LINE__};
};

Pi0Operators::Pi0Operators() : libraries_(std::make_unique<Libraries>()) {
  const std::string noise =
      "Tensor noise, str preset, *, ScalarType? weights=None, bool reuse_prefix=True, "
      "str order='stored', str checkpoint=''";
  const std::string end = noise + ") -> Tensor", text_end = noise + ", bool wipe=True) -> Tensor";
  const std::string ids = "Tensor input_ids, Tensor attention_mask, ",
                    text = "Tensor text_ids, Tensor lengths, ", proprios = "Tensor proprios, ",
                    state = "Tensor state, ", pixels = "(Tensor pixel_values, ",
                    images = pixels + "Tensor image_mask, ";
  const auto define = [this](const std::string& schema, auto function) {
    libraries_->bic.def(schema.c_str(), function);
  };
  define("pi0" + pixels + ids + proprios + end, TORCH_FN(Operator<run_pi0>::call));
  define("pi0.text" + pixels + text + proprios + text_end,
         TORCH_FN(Operator<run_pi0_text>::call_text));
  define("pi0_openpi" + images + ids + state + end, TORCH_FN(Operator<run_openpi>::call));
  define("pi0_openpi.text" + images + text + state + text_end,
         TORCH_FN(Operator<run_openpi_text>::call_text));
}

Pi0Operators::~Pi0Operators() { last_model().forget(); }

}  // namespace bic::libtorch

#include "adapters/libtorch/model_run.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "adapters/libtorch/device.h"
#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "suites/models/decoder/forward.h"
#include "suites/models/decoder/presets.h"
#include "suites/models/pi0/checkpoint.h"
#include "suites/models/pi0/synthetic.h"

namespace bic::libtorch {
namespace {

using pi0::Model;
using pi0::Pass;
using SharedModel = std::shared_ptr<const Model>;

/// Each is made in the host's memory, the same for every device.
pi0::Weights on_device(pi0::Weights weights) {
  for (auto& [name, tensor] : weights) tensor = tensor.to(device());
  return weights;
}

SharedModel make_model(const ModelRun& run) {
  if (run.model == "decoder") {
    return std::make_shared<const Model>(decoder::synthetic_model(run.preset, run.dtype, device()));
  }
  const pi0::Config config = pi0::preset(run.preset);
  const pi0::Precision stored = pi0::precision(config, run.dtype);
  return std::make_shared<const Model>(
      config,
      run.in_double ? pi0::in_double(stored) : stored,
      on_device(run.weights.empty() ? pi0::synthetic_weights(config, run.dtype)
                                    : pi0::load_weights(config, run.dtype, run.weights).weights),
      device(),
      pi0::parse_hidden_order(run.order));
}

/// Where the model is, and of a request's values, which are those of the model's dtype, in its.
void bring(const ModelRun& run, at::Tensor& t) {
  t = t.to(device());
  if (run.in_double && t.is_floating_point()) t = t.to(at::kDouble);
}

/// The last one that was asked for.
SharedModel model_of(const ModelRun& run) {
  struct Last {
    std::string key;
    SharedModel model;
  };
  static Last& last = *new Last;  // never destroyed: the allocator may be gone by then
  const std::string key = fmt::format("{} {} {} {} {} {}",
                                      run.model,
                                      run.preset,
                                      c10::toString(run.dtype),
                                      run.in_double,
                                      run.order,
                                      run.weights);
  if (key != last.key) {
    last = {};  // before the next one is made
    last = {key, make_model(run)};
  }
  return last.model;
}

/// Requests 0 to the largest id, of which those of the batch are taken.
std::int64_t requests_made(const ModelRun& run) { return std::ranges::max(run.requests) + 1; }

class Pi0Batch final : public ReadyModel {
 public:
  Pi0Batch(SharedModel model, const ModelRun& run)
      : model_(std::move(model)),
        in_(pi0::synthetic_inputs(model_->config, requests_made(run), run.dtype)) {
    const at::Tensor ids = at::tensor(run.requests, at::kLong);
    for (at::Tensor* t :
         {&in_.pixel_values, &in_.input_ids, &in_.attention_mask, &in_.proprios, &in_.noise}) {
      *t = at::index_select(*t, 0, ids);
      bring(run, *t);
    }
  }
  at::Tensor forward(pi0::Trace* trace) const override {
    return pi0::open_pi_zero(Pass(*model_, trace), in_);
  }

 private:
  SharedModel model_;
  pi0::Inputs in_;
};

class OpenPiBatch final : public ReadyModel {
 public:
  OpenPiBatch(SharedModel model, const ModelRun& run)
      : model_(std::move(model)),
        in_(pi0::synthetic_openpi_inputs(model_->config, requests_made(run))) {
    const at::Tensor ids = at::tensor(run.requests, at::kLong);
    for (at::Tensor& image : in_.images) {
      image = at::index_select(image, 0, ids);
      bring(run, image);
    }
    for (at::Tensor* t :
         {&in_.image_mask, &in_.input_ids, &in_.text_mask, &in_.state, &in_.noise}) {
      *t = at::index_select(*t, 0, ids);
      bring(run, *t);
    }
  }
  at::Tensor forward(pi0::Trace* trace) const override {
    return pi0::openpi(Pass(*model_, trace), in_);
  }

 private:
  SharedModel model_;
  pi0::OpenPiInputs in_;
};

class DecoderBatch final : public ReadyModel {
 public:
  DecoderBatch(SharedModel model, const ModelRun& run)
      : model_(std::move(model)), requests_(run.requests) {}

  at::Tensor forward(pi0::Trace* trace) const override {
    const Pass pass(*model_, trace);
    const auto batch = static_cast<std::int64_t>(requests_.size());
    decoder::KvSlots cache(pass, batch, kPrompt + 1);
    std::vector<decoder::Chunk> chunks;
    for (std::int64_t b = 0; b < batch; ++b) chunks.push_back({b, 0, prompt(requests_[b])});
    pass.section("prefill");
    const at::Tensor first = decoder::head(pass, decoder::last_hidden(pass, cache, chunks));
    const auto tokens = decoder::greedy(first);
    decoder::log_probabilities(pass, first, tokens);
    for (std::int64_t b = 0; b < batch; ++b) chunks[b] = {b, kPrompt, {tokens[b]}};
    pass.section("decode");
    return decoder::head(pass, decoder::last_hidden(pass, cache, chunks));
  }

 private:
  static constexpr std::int64_t kPrompt = 6;

  std::vector<std::int64_t> prompt(std::int64_t id) const {
    std::vector<std::int64_t> tokens;
    for (std::int64_t j = 0; j < kPrompt; ++j) {
      tokens.push_back(1 + (7 * id + 3 * j) % (model_->config.vocabulary - 1));
    }
    return tokens;
  }

  SharedModel model_;
  std::vector<std::int64_t> requests_;
};

at::ScalarType scalar_type(const std::string& dtype) {
  if (dtype == "fp32") return at::kFloat;
  if (dtype == "bf16") return at::kBFloat16;
  if (dtype == "fp64") return at::kDouble;
  throw UsageError(fmt::format("dtype '{}': models run in fp32, bf16 or fp64", dtype));
}

}  // namespace

ModelRun model_run(const nlohmann::json& request) {
  ModelRun run{request.at("model"),
               request.at("preset"),
               scalar_type(request.at("dtype")),
               request.at("requests"),
               request.value("weights", ""),
               request.value("in_double", false),
               request.value("order", "stored")};
  const std::vector<std::string> known{"pi0", "decoder"};
  if (std::ranges::find(known, run.model) == known.end()) {
    throw UsageError(fmt::format("model '{}': there is no such model{}; there are {}",
                                 run.model,
                                 did_you_mean(run.model, known),
                                 "pi0 and decoder"));
  }
  if (run.model != "pi0" && !run.weights.empty()) {
    throw UsageError(
        fmt::format("model '{}': its weights are synthetic; leave out --weights", run.model));
  }
  if (run.requests.empty() || std::ranges::min(run.requests) < 0) {
    throw HarnessError("study: requests are to be one or more ids from 0");
  }
  return run;
}

std::unique_ptr<ReadyModel> ready(const ModelRun& run) {
  SharedModel model = model_of(run);
  if (run.model == "decoder") return std::make_unique<DecoderBatch>(std::move(model), run);
  if (model->config.variant == pi0::Variant::kOpenPi) {
    return std::make_unique<OpenPiBatch>(std::move(model), run);
  }
  return std::make_unique<Pi0Batch>(std::move(model), run);
}

}  // namespace bic::libtorch

#include "suites/models/pi0/parameters.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace bic::pi0 {
namespace {

/// Appends to a list of parameters.
class Lister {
 public:
  void add(std::string name, std::vector<std::int64_t> shape, Law law, Part part) {
    list_.push_back({std::move(name), std::move(shape), law, part});
  }

  void matrix(const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in}, Law::kMatrix, Part::kModel);
  }

  void linear(const std::string& name,
              std::int64_t out,
              std::int64_t in,
              Part part = Part::kModel,
              Law law = Law::kMatrix) {
    add(name + ".weight", {out, in}, law, part);
    add(name + ".bias", {out}, Law::kBias, part);
  }

  void layer_norm(const std::string& name, std::int64_t width) {
    add(name + ".weight", {width}, Law::kLayerNorm, Part::kModel);
    add(name + ".bias", {width}, Law::kBias, Part::kModel);
  }

  void rms_norm(const std::string& name, std::int64_t width) {
    add(name + ".weight", {width}, Law::kRmsNorm, Part::kRmsNorm);
  }

  std::vector<Parameter> take() { return std::move(list_); }

 private:
  std::vector<Parameter> list_;
};

void embedding(Lister& list, const Config& c) {
  list.add(c.names.embedding + ".weight",
           {c.vocabulary, c.expert("vlm").width},
           Law::kEmbedding,
           Part::kModel);
}

void vision(Lister& list, const Config& c) {
  const Vision& v = c.vision;
  const std::string embeddings = c.names.vision + "embeddings.";
  list.add(embeddings + "patch_embedding.weight",
           {v.width, 3, v.patch, v.patch},
           Law::kMatrix,
           Part::kPatch);
  list.add(embeddings + "patch_embedding.bias", {v.width}, Law::kBias, Part::kPatch);
  list.add(embeddings + "position_embedding.weight",
           {v.tokens(), v.width},
           Law::kEmbedding,
           Part::kPatch);
  for (std::int64_t l = 0; l < v.layers; ++l) {
    const std::string layer = fmt::format("{}encoder.layers.{}.", c.names.vision, l);
    list.layer_norm(layer + "layer_norm1", v.width);
    list.layer_norm(layer + "layer_norm2", v.width);
    for (const char* projection : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
      list.linear(layer + "self_attn." + projection, v.width, v.width);
    }
    list.linear(layer + "mlp.fc1", v.mlp, v.width);
    list.linear(layer + "mlp.fc2", v.width, v.mlp);
  }
  list.layer_norm(c.names.vision + "post_layernorm", v.width);
}

void expert(Lister& list, const Config& c, const Expert& e) {
  const std::int64_t queries = c.heads * c.head_dim;
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const std::string layer = fmt::format("{}layers.{}.", e.prefix, l);
    list.matrix(layer + "self_attn.q_proj", queries, e.width);
    list.matrix(layer + "self_attn.k_proj", c.head_dim, e.width);
    list.matrix(layer + "self_attn.v_proj", c.head_dim, e.width);
    list.matrix(layer + "self_attn.o_proj", e.width, queries);
    list.matrix(layer + "mlp.gate_proj", e.mlp, e.width);
    list.matrix(layer + "mlp.up_proj", e.mlp, e.width);
    list.matrix(layer + "mlp.down_proj", e.width, e.mlp);
    list.rms_norm(layer + "input_layernorm", e.width);
    list.rms_norm(layer + "post_attention_layernorm", e.width);
  }
  if (e.final_norm) list.rms_norm(e.prefix + "norm", e.width);
}

void heads(Lister& list, const Config& c) {
  const std::int64_t width = c.expert("action").width;
  list.linear(c.names.state, width, c.state_dim, Part::kHead);
  list.linear(c.names.action_in, width, c.action_dim, Part::kHead);
  list.linear(c.names.time_in, width, 2 * width, Part::kHead);
  list.linear(c.names.time_out, width, width, Part::kHead);
  list.linear(c.names.action_out, c.action_dim, width, Part::kHead, Law::kActionOut);
}

}  // namespace

std::int64_t Parameter::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<Parameter> parameters(const Config& config) {
  Lister list;
  embedding(list, config);
  vision(list, config);
  list.linear(config.names.projector, config.expert("vlm").width, config.vision.width);
  for (const Expert& e : config.experts) expert(list, config, e);
  heads(list, config);
  return list.take();
}

std::vector<Parameter> language_parameters(const Config& config) {
  Lister list;
  embedding(list, config);
  expert(list, config, config.expert("vlm"));
  return list.take();
}

}  // namespace bic::pi0

#include "suites/models/decoder/presets.h"

#include <fmt/ranges.h>

#include "results_schema/error.h"
#include "results_schema/nearest.h"
#include "suites/models/decoder/preset_names.h"
#include "suites/models/pi0/synthetic.h"

namespace bic::decoder {
namespace {

pi0::Config language_tower(std::string_view policy, std::string_view name) {
  pi0::Config c = pi0::preset(policy);
  c.name = name;
  std::erase_if(c.experts, [](const pi0::Expert& e) { return e.name != "vlm"; });
  return c;
}

pi0::Config tiny_ragged() {
  pi0::Config c = language_tower("tiny-openpi", "tiny-ragged");
  c.experts[0].width = 60, c.experts[0].mlp = 118;
  c.heads = 4, c.head_dim = 14;
  c.vocabulary = 317;
  return c;
}

}  // namespace

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names(kPresets.begin(), kPresets.end());
  return names;
}

pi0::Config preset(std::string_view name) {
  if (name == "tiny") return language_tower("tiny-openpi", name);
  if (name == "tiny-ragged") return tiny_ragged();
  if (name == "gemma-2b") return language_tower("openpi", name);
  throw UsageError(fmt::format("preset '{}': no such decoder{}; there are {}",
                               name,
                               did_you_mean(name, preset_names()),
                               fmt::join(preset_names(), ", ")));
}

pi0::Model synthetic_model(std::string_view name, at::ScalarType dtype, const at::Device& device) {
  const pi0::Config c = preset(name);
  const pi0::Precision p = pi0::precision(c, dtype);
  pi0::Weights weights = pi0::synthetic_weights(c, pi0::language_parameters(c), dtype);
  const std::string name_of_norm = c.experts[0].prefix + "norm.weight";
  at::Tensor& norm = weights.at(name_of_norm);
  norm = pi0::synthetic_tensor(name_of_norm, norm.sizes(), 2, -1, norm.scalar_type());
  for (auto& [parameter, tensor] : weights) tensor = tensor.to(device);
  return {c, p, std::move(weights), device};
}

}  // namespace bic::decoder

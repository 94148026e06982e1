#include "suites/models/pi0/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results_schema/error.h"
#include "results_schema/nearest.h"

namespace bic::pi0 {
namespace {

Config open_pi_zero() {
  Config c;
  c.name = "open-pi-zero";
  const std::string experts = "joint_model.mixtures.";
  c.experts = {
      {.name = "vlm", .prefix = experts + "vlm.", .width = 2048, .mlp = 16384, .cached = true},
      {.name = "proprio",
       .prefix = experts + "proprio.",
       .width = 1024,
       .mlp = 4096,
       .cached = true,
       .final_norm = true},
      {.name = "action",
       .prefix = experts + "action.",
       .width = 1024,
       .mlp = 4096,
       .final_norm = true,
       .first_position = 2},  // behind the one proprio token, not behind the prefix
  };
  c.names = {.vision = "vision_tower.vision_model.",
             .projector = "multi_modal_projector.linear",
             .embedding = "embed_tokens",
             .state = "proprio_encoder",
             .action_in = "action_encoder.linear_1",
             .time_in = "action_encoder.linear_2",
             .time_out = "action_encoder.linear_3",
             .action_out = "action_decoder"};
  c.soft_cap = 50.0;
  return c;
}

Config openpi() {
  Config c;
  c.name = "openpi";
  c.variant = Variant::kOpenPi;
  const std::string vlm = "paligemma_with_expert.paligemma.model.";
  c.experts = {
      {.name = "vlm",
       .prefix = vlm + "language_model.",
       .width = 2048,
       .mlp = 16384,
       .cached = true,
       .final_norm = true},
      {.name = "action",
       .prefix = "paligemma_with_expert.gemma_expert.model.",
       .width = 1024,
       .mlp = 4096,
       .final_norm = true},
  };
  c.names = {.vision = vlm + "vision_tower.vision_model.",
             .projector = vlm + "multi_modal_projector.linear",
             .embedding = vlm + "language_model.embed_tokens",
             .state = "state_proj",
             .action_in = "action_in_proj",
             .time_in = "action_time_mlp_in",
             .time_out = "action_time_mlp_out",
             .action_out = "action_out_proj"};
  c.images = 3, c.text_slots = 48;
  c.action_tokens = 50, c.action_dim = c.state_dim = 32;
  c.vocabulary = 257152;
  c.time_max_period = 4.0;
  return c;
}

void set_widths(Config& c, std::int64_t vlm, std::int64_t vlm_mlp, std::int64_t w, std::int64_t m) {
  for (Expert& e : c.experts) {
    e.width = e.name == "vlm" ? vlm : w;
    e.mlp = e.name == "vlm" ? vlm_mlp : m;
  }
}

/// Small enough for every run of the tests; sizes that fit vectors.
Config tiny(Config c, std::string name) {
  c.name = std::move(name);
  c.vision = {.image = 28, .patch = 7, .width = 48, .mlp = 96, .layers = 2, .heads = 4};
  set_widths(c, 64, 128, 32, 64);
  c.layers = 3, c.heads = 4, c.head_dim = 16;
  c.text_slots = 6;
  c.vocabulary = 320, c.image_id = 300;
  return c;
}

/// Sizes that fit no vector, where stock kernels change their tails with the batch.
Config tiny_ragged() {
  Config c = tiny(open_pi_zero(), "tiny-ragged");
  c.vision = {.image = 21, .patch = 7, .width = 44, .mlp = 99, .layers = 2, .heads = 4};
  set_widths(c, 60, 118, 36, 70);
  c.head_dim = 14;
  c.action_tokens = 5;
  return c;
}

Config tiny_openpi() {
  Config c = tiny(openpi(), "tiny-openpi");
  c.heads = 8;
  c.text_slots = 8;
  c.action_tokens = 10, c.action_dim = c.state_dim = 8;
  return c;
}

}  // namespace

const Expert& Config::expert(std::string_view expert_name) const {
  for (const Expert& e : experts) {
    if (e.name == expert_name) return e;
  }
  throw HarnessError(fmt::format("pi0: preset '{}' has no expert '{}'", name, expert_name));
}

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names{
      "tiny", "tiny-ragged", "tiny-openpi", "open-pi-zero", "open-pi-zero-fractal", "openpi"};
  return names;
}

Config preset(std::string_view name) {
  if (name == "tiny") return tiny(open_pi_zero(), "tiny");
  if (name == "tiny-ragged") return tiny_ragged();
  if (name == "tiny-openpi") return tiny_openpi();
  if (name == "open-pi-zero") return open_pi_zero();
  if (name == "openpi") return openpi();
  if (name == "open-pi-zero-fractal") {
    Config c = open_pi_zero();
    c.name = "open-pi-zero-fractal";
    c.state_dim = 8;
    return c;
  }
  throw UsageError(fmt::format("preset '{}': no such model of pi0{}; there are {}",
                               name,
                               did_you_mean(name, preset_names()),
                               fmt::join(preset_names(), ", ")));
}

}  // namespace bic::pi0

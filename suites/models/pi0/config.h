#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bic::pi0 {

/// The two public implementations of the policy; they differ in many small things (openpi.h).
enum class Variant { kOpenPiZero, kOpenPi };

/// The SigLIP vision tower.
struct Vision {
  std::int64_t image = 224;  ///< height and width in pixels
  std::int64_t patch = 14;   ///< side of a patch, and stride
  std::int64_t width = 1152;
  std::int64_t mlp = 4304;
  std::int64_t layers = 27;
  std::int64_t heads = 16;
  double eps = 1e-6;             ///< of LayerNorm; ATen's default is another
  bool fused_attention = false;  ///< scaled_dot_product_attention instead of its parts

  std::int64_t tokens() const { return (image / patch) * (image / patch); }
};

/// A stream of tokens with decoder weights of its own.
struct Expert {
  std::string name;    ///< in traces
  std::string prefix;  ///< of its weights
  std::int64_t width = 0;
  std::int64_t mlp = 0;
  bool cached = false;              ///< evaluated once, before the denoising steps
  bool final_norm = false;          ///< has the weight of a last RMSNorm
  std::int64_t first_position = 1;  ///< of its first token; openpi counts by its masks instead
  double rope_base = 10000;
};

/// Names of the weights outside the experts.
struct Names {
  std::string vision;     ///< prefix
  std::string projector;  ///< from here on without ".weight" and ".bias"
  std::string embedding;
  std::string state;
  std::string action_in;
  std::string time_in;
  std::string time_out;
  std::string action_out;
};

/// The sizes and constants of a model.
struct Config {
  std::string name;
  Variant variant = Variant::kOpenPiZero;
  Vision vision;
  std::vector<Expert> experts;  ///< in the order of attention's keys
  Names names;
  std::int64_t layers = 18;
  std::int64_t heads = 8;  ///< of the queries; keys and values have one
  std::int64_t head_dim = 256;
  std::int64_t images = 1;
  std::int64_t text_slots = 20;
  std::int64_t action_tokens = 4;
  std::int64_t action_dim = 7;
  std::int64_t state_dim = 7;  ///< of the one state (proprio) token
  std::int64_t vocabulary = 257216;
  std::int64_t image_id = 257152;
  std::int64_t pad_id = 0;
  std::int64_t steps = 10;         ///< of Euler's method
  double time_min_period = 4e-3;   ///< openpi only
  double time_max_period = 10000;  ///< newer training configurations of open-pi-zero have 100
  double rms_eps = 1e-6;
  std::optional<double> soft_cap;  ///< of attention's logits
  std::string gelu = "tanh";       ///< ATen's default is another

  std::int64_t prefix_tokens() const { return images * vision.tokens() + text_slots; }
  const Expert& expert(std::string_view expert_name) const;
};

/// The models that have a name: tiny, tiny-ragged, tiny-openpi; open-pi-zero (Bridge) and
/// open-pi-zero-fractal (a state of 8 numbers); openpi.
const std::vector<std::string>& preset_names();

/// The configuration of that name. Throws UsageError that names the nearest one.
Config preset(std::string_view name);

}  // namespace bic::pi0

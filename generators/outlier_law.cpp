// Law `outlier`: a few channels tens of times larger than the others, as activations of language
// models have them (T. Dettmers et al., "LLM.int8()", arXiv:2208.07339, section 4).
#include <algorithm>

#include "generators/values.h"

namespace bic {
namespace {

constexpr double kOutlierScale = 64;
constexpr std::uint64_t kOneIn = 128;  // channels; one at least

/// Factor of each channel; the same for all samples, as a model's weights make it.
std::vector<double> channel_scales(Seed seed, std::int64_t channels) {
  std::vector<double> scales(static_cast<std::size_t>(channels), 1.0);
  const std::uint64_t key = derive(seed, "outlier channels").value;
  for (std::size_t c = 0; c < scales.size(); ++c) {
    if (random_bits(key, c) % kOneIn == 0) scales[c] = kOutlierScale;
  }
  scales[random_bits(key, scales.size()) % scales.size()] = kOutlierScale;
  return scales;
}

}  // namespace

Values outlier_values(const Block& block) {
  const bool is_pointwise = block.contraction.leader < 0;
  const bool has_outliers = is_pointwise ? !block.shape().common : block.leads();
  const auto& shape = block.shape().shape;
  if (!has_outliers || block.size == 0 || shape.empty()) return normal_values(block);
  const int last_axis[] = {static_cast<int>(shape.size()) - 1};
  const Walk walk = is_pointwise ? Walk(shape, last_axis) : block.walk();
  const std::int64_t channels = is_pointwise ? shape.back() : block.contraction.length;
  return
      [walk, normal = normal_values(block), scales = channel_scales(block.problem.seed, channels)](
          std::int64_t first, std::span<double> out) {
        std::array<std::int64_t, kChunk> outer;
        std::array<std::int64_t, kChunk> channel;
        walk.at(first, std::span(outer).first(out.size()), std::span(channel).first(out.size()));
        normal(first, out);
        for (std::size_t i = 0; i < out.size(); ++i) {
          out[i] *= scales[static_cast<std::size_t>(channel[i])];
        }
      };
}

}  // namespace bic

#pragma once

#include "reference_kernels/oracle/sample_draws.h"

namespace bic::testing_support {

/// Values of one kind for attention: 4 query heads of l against 2 of s keys; `mask` as in
/// attention_reference, "" for none.
inline Sample draw_attention(std::mt19937_64& rng, Kind kind, DType t, const std::string& mask) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(rng() % n); };
  const std::int64_t s = 1 + below(40), l = mask == "causal" ? s : 1 + below(3), e = 1 + below(12);
  Sample sample{{draw_many(rng, kind, t, 2 * s * e),
                 draw_many(rng, kind, t, 4 * l * e),
                 draw_many(rng, kind, t, 2 * s * e)},
                {{"s", s}, {"l", l}, {"e", e}},
                {}};
  if (mask.empty()) return sample;
  sample.attributes["mask"] = mask;
  if (mask == "causal") return sample;
  std::vector<double>& values = sample.values.emplace_back(draw_many(rng, kind, t, l * s));
  if (mask == "added") return sample;
  for (std::int64_t i = 0; i < l * s; ++i) values[i] = i % s == 0 || rng() % 4 != 0;
  return sample;
}

/// Whether query i of a sample sees key j.
inline bool sees(const Sample& s, std::int64_t i, std::int64_t j) {
  const auto mask = s.attributes.find("mask");
  if (mask == s.attributes.end() || mask->second == "added") return true;
  return mask->second == "causal" ? j <= i : s.values[3][i * s.dims.at("s") + j] != 0;
}

}  // namespace bic::testing_support

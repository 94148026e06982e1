#pragma once

#include "suites/models/decoder/temperature_zero.h"

namespace bic::decoder {

/// Token j is that of sample 0 of pi0's synthetic texts.
inline std::vector<std::int64_t> prompt(std::int64_t tokens) {
  std::vector<std::int64_t> ids;
  for (std::int64_t j = 0; j < tokens; ++j) ids.push_back(1 + 3 * j % 199);
  return ids;
}

inline Question question(std::uint64_t seed) {
  return {.prompt = prompt(11), .load = {.seed = {seed}}};
}

}  // namespace bic::decoder

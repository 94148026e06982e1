#pragma once

#include "suites/models/decoder/temperature_zero.h"

namespace bic::decoder {

inline Question question(std::uint64_t seed) {
  return {.prompt = prompt(11), .load = {.seed = {seed}}};
}

}  // namespace bic::decoder

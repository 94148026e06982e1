#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "suites/models/pi0/model.h"

namespace bic::decoder {

/// The decoders that have a name: tiny and tiny-ragged (sizes that fit no vector), and gemma-2b.
const std::vector<std::string>& preset_names();

/// The language tower of openpi alone: one expert, "vlm", whose token embedding is its head too.
/// Throws UsageError that names the nearest preset.
pi0::Config preset(std::string_view name);

/// A preset on `device` with the synthetic weights of pi0, but for the last norm, which multiplies
/// by 2u instead of 1 + 0.2u: a random model with a tied head otherwise repeats the token that it
/// is given, with a probability near 1, and neither its tokens nor its log-probabilities tell
/// kernels apart. Throws UsageError unless `dtype` is fp32, bf16 (RMSNorm weights stay in fp32) or
/// fp64.
pi0::Model synthetic_model(std::string_view name,
                           at::ScalarType dtype = at::kFloat,
                           const at::Device& device = at::kCPU);

}  // namespace bic::decoder

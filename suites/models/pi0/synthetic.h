#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "suites/models/pi0/open_pi_zero.h"
#include "suites/models/pi0/openpi.h"

namespace bic::pi0 {

/// 32-bit FNV-1a of a name's bytes: the seed of its tensor.
constexpr std::uint32_t fnv1a(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// Element `k` of the tensor with that seed: uniform in [-1, 1), exact in fp64.
double synthetic_value(std::uint32_t seed, std::uint64_t k);

/// A tensor of offset + scale u, rounded from fp64 to fp32 and from there to `dtype`, on the CPU;
/// the same for every number of threads.
at::Tensor synthetic_tensor(std::string_view name,
                            at::IntArrayRef shape,
                            double scale,
                            double offset,
                            at::ScalarType dtype);

/// All weights of a model in `dtype`, on the CPU: random, but the same everywhere.
Weights synthetic_weights(const Config& config, at::ScalarType dtype);

/// Those of `list`, such as `language_parameters`.
Weights synthetic_weights(const Config& config,
                          const std::vector<Parameter>& list,
                          at::ScalarType dtype);

/// Requests 0 to batch - 1, each a function of its number alone, with texts of different lengths;
/// floating-point tensors in `dtype`.
Inputs synthetic_inputs(const Config& config, std::int64_t batch, at::ScalarType dtype);
OpenPiInputs synthetic_openpi_inputs(const Config& config, std::int64_t batch);

}  // namespace bic::pi0

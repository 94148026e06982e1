#include "suites/models/pi0/precision.h"

#include <fmt/format.h>

#include "results_schema/error.h"

namespace bic::pi0 {
namespace {

bool is_mixed(const Config& config, at::ScalarType dtype) {
  return config.variant == Variant::kOpenPi && dtype == at::kBFloat16;
}

}  // namespace

Precision precision(const Config& config, at::ScalarType dtype) {
  if (dtype != at::kFloat && dtype != at::kBFloat16 && dtype != at::kDouble) {
    throw UsageError(fmt::format("pi0 in {}: no such model; it runs in fp32, bf16 or fp64",
                                 c10::toString(dtype)));
  }
  const at::ScalarType wide = dtype == at::kDouble ? at::kDouble : at::kFloat;
  Precision p{dtype, dtype, dtype, wide, wide, wide, dtype, dtype, dtype, dtype};
  if (is_mixed(config, dtype)) p.patch = p.heads = at::kFloat;
  return p;
}

Precision in_double(Precision p) {
  p.model = p.patch = p.heads = p.norm = p.softmax = p.rope = p.time = at::kDouble;
  return p;
}

at::ScalarType stored_dtype(const Config& config,
                            const Parameter& parameter,
                            at::ScalarType dtype) {
  return is_mixed(config, dtype) && parameter.part != Part::kModel ? at::kFloat : dtype;
}

}  // namespace bic::pi0

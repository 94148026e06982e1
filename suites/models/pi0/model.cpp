#include "suites/models/pi0/model.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/div.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>

#include <utility>

#include "results_schema/error.h"

namespace bic::pi0 {

at::Tensor inverse_frequencies(const Config& config, const Precision& precision, double base) {
  const std::int64_t d = config.head_dim;
  const at::Tensor even = at::arange(0, d, 2, at::kLong).to(at::kFloat);
  const at::Tensor inverse =
      at::reciprocal(at::pow(at::Scalar(base), at::div(even, static_cast<double>(d))));
  return inverse.to(precision.buffers).to(precision.rope);
}

Model::Model(Config c, Precision p, Weights w, const at::Device& device, HiddenOrder o)
    : config(std::move(c)), precision(p), weights(std::move(w)), order(o) {
  for (const Expert& e : config.experts) {
    const at::Tensor f = inverse_frequencies(config, precision, e.rope_base);
    frequencies.push_back(reordered(config, f, order).to(device));
  }
}

at::Tensor as(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.scalar_type() == dtype ? tensor : tensor.to(dtype);
}

const at::Tensor& Pass::weight(const std::string& name) const {
  const auto found = weights.find(name);
  if (found == weights.end()) {
    throw UsageError(fmt::format("pi0: preset '{}' has no weight '{}'", config.name, name));
  }
  return found->second;
}

at::Tensor Pass::weight(const std::string& name, at::ScalarType dtype) const {
  return reordered(config, name, as(weight(name), dtype), order);
}

}  // namespace bic::pi0

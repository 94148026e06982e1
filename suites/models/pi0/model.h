#pragma once

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "suites/models/pi0/config.h"
#include "suites/models/pi0/hidden_order.h"
#include "suites/models/pi0/precision.h"
#include "suites/models/pi0/trace.h"

namespace bic::pi0 {

/// Weights by the names of `parameters`.
using Weights = std::unordered_map<std::string, at::Tensor>;

/// Whether the prefix is evaluated once, or again in each of the steps: the same actions up to
/// rounding.
enum class Prefix { kCached, kRecomputed };

/// What stays from call to call.
struct Model {
  /// Makes the buffers, on `device`, which is to be that of the weights.
  Model(Config config,
        Precision precision,
        Weights weights,
        const at::Device& device = at::kCPU,
        HiddenOrder order = HiddenOrder::kStored);

  Config config;
  Precision precision;
  Weights weights;
  HiddenOrder order;
  std::vector<at::Tensor> frequencies;  ///< of the rotary embedding, by expert
};

/// What every function of a forward pass needs. Holds references only.
struct Pass {
  /// Without a trace nothing is recorded, at the price of a comparison.
  explicit Pass(const Model& model, Trace* trace = nullptr)
      : config(model.config),
        precision(model.precision),
        weights(model.weights),
        order(model.order),
        frequencies(model.frequencies),
        trace(trace) {}

  const Config& config;
  const Precision& precision;
  const Weights& weights;
  HiddenOrder order;
  const std::vector<at::Tensor>& frequencies;
  Trace* trace;

  /// The weight of that name as it is stored. Throws UsageError when there is none.
  const at::Tensor& weight(const std::string& name) const;
  /// In `dtype`, its units in the model's order.
  at::Tensor weight(const std::string& name, at::ScalarType dtype) const;

  void section(std::string_view name) const {
    if (trace != nullptr) trace->section(name);
  }

  /// Records a tensor; its name is formatted only when somebody wants it.
  template <class... Parts>
  void record(const at::Tensor& tensor,
              fmt::format_string<const Parts&...> name,
              const Parts&... parts) const {
    if (trace != nullptr) trace->record(fmt::format(name, parts...), tensor);
  }
};

/// 1 / base^(2k/head_dim) for k below head_dim/2: made in fp32 and rounded to `Precision::buffers`,
/// then widened to `Precision::rope`.
at::Tensor inverse_frequencies(const Config& config, const Precision& precision, double base);

/// `tensor` in `dtype`; itself, without a call of ATen, where it is in that one already.
at::Tensor as(const at::Tensor& tensor, at::ScalarType dtype);

}  // namespace bic::pi0

#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "suites/models/pi0/trace.h"

namespace bic::libtorch {

/// A forward pass of a whole model over requests, each of which is a function of its id.
struct ModelRun {
  std::string model;   ///< "pi0" or "decoder"
  std::string preset;  ///< of that model
  at::ScalarType dtype = at::kFloat;
  std::vector<std::int64_t> requests;  ///< ids, in the order of the batch
  std::string weights;                 ///< checkpoint of pi0; empty: the synthetic ones
  /// Evaluated in fp64, on what `dtype` makes of weights, constants and requests; of pi0.
  bool in_double = false;
  std::string order = "stored";  ///< of pi0's hidden units (hidden_order.h)
};

/// The fields `model`, `preset`, `dtype` and `requests` of a study's request, and where it has them
/// `weights`, `in_double` and `order`. Throws UsageError.
ModelRun model_run(const nlohmann::json& request);

/// A model and a batch, ready to run.
class ReadyModel {
 public:
  virtual ~ReadyModel() = default;
  /// pi0: one pass, its action. decoder: prompts of six tokens, and a token more, its logits.
  virtual at::Tensor forward(pi0::Trace* trace) const = 0;
};

/// The weights stay until another model, preset or dtype is asked for: a full-size one takes
/// gigabytes. Throws UsageError for a wrong name.
std::unique_ptr<ReadyModel> ready(const ModelRun& run);

}  // namespace bic::libtorch

#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <string_view>
#include <vector>

#include "adapters/libtorch/call_text.h"
#include "adapters/libtorch/interposer.h"
#include "results_schema/vocabulary.h"

namespace bic::libtorch {

/// A call text bound to ATen's schemas: parsed, looked up and filled with defaults once, then run
/// any number of times on tensors of the same names. A name is a tensor first, then a dim, then an
/// attribute, then (where the schema wants a dtype) a dtype such as `fp32`.
class Evaluator {
 public:
  /// `tensors` are the names that `run` will be given. Throws HarnessError when the text does not
  /// parse, names an operator torch has not, or does not fit its schema.
  Evaluator(std::string_view text,
            const std::vector<std::string>& tensors,
            const Dims& dims,
            const Attributes& attributes);

  /// Makes the boxed calls and returns the tensor named `output`, or, when no target has that name,
  /// the last call's first result. Throws what the op throws.
  at::Tensor run(const NamedTensors& tensors, const std::string& output) const;

  /// True when a schema says that the tensor given by that name is written to.
  bool writes(const std::string& tensor) const;

 private:
  /// One argument: a constant, or the name of a tensor known when the call is made.
  struct Source {
    c10::IValue constant;
    std::string tensor;             ///< of a single tensor
    std::vector<std::string> list;  ///< of a list of tensors
    bool optional = false;          ///< of a list whose schema allows None
  };
  struct Step {
    c10::OperatorHandle op;
    std::vector<std::string> targets;
    std::vector<Source> arguments;
  };

  class Binder;
  class Scope;
  std::vector<Step> steps_;
  std::vector<std::string> written_;
};

}  // namespace bic::libtorch

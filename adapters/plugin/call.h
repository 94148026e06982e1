#pragma once

#include <string>
#include <vector>

#include "adapters/plugin/library.h"
#include "adapters/protocol/messages.h"

namespace bic::plugin {

/// What a call is, beside its tensors.
struct CallHead {
  const std::string& op;
  const std::string& variant;
  const std::string& text;
  Form form = Form::kFunctional;
  int threads = 1;
  const Attributes& attributes;
};

/// One call of a plug-in with everything that its pointers lead to. Refers to the head and to the
/// tensors' memory; can be made any number of times.
class Call {
 public:
  /// `output` may be one of the inputs.
  Call(const CallHead& head, std::vector<bic_tensor> inputs, const bic_tensor& output);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// kRan, or why not and one line.
  protocol::Outcome make(const Library& library, std::string& message);

  /// The output as the last call left it. Throws std::runtime_error, with one line, where it says
  /// what it may not.
  const bic_tensor& output() const;

  /// The team that the last call stated; -1 where it stated none.
  int team() const { return call_.team; }

 private:
  std::vector<bic_tensor> inputs_;
  std::vector<const bic_tensor*> input_pointers_;
  std::vector<bic_attribute> attributes_;
  std::vector<const bic_attribute*> attribute_pointers_;
  const std::vector<std::int64_t> shape_given_;
  std::vector<std::int64_t> output_shape_;  ///< which the plug-in may change
  bic_tensor output_{}, output_given_{};
  bic_call call_{};
};

}  // namespace bic::plugin

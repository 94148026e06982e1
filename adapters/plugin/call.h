#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/plugin/library.h"
#include "adapters/plugin/placed.h"
#include "adapters/protocol/messages.h"

namespace bic::plugin {

/// One call of a plug-in with everything that its pointers lead to. Refers to the problem and to
/// the tensors; can be made any number of times.
class Call {
 public:
  /// `output` may be one of the inputs.
  Call(const protocol::ProblemMessage& problem,
       const protocol::TrialMessage& trial,
       const std::vector<std::shared_ptr<Placed>>& inputs,
       Placed& output);
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
  Placed& placed_output_;
  std::vector<bic_tensor> inputs_;
  std::vector<const bic_tensor*> input_pointers_;
  std::vector<bic_attribute> attributes_;
  std::vector<const bic_attribute*> attribute_pointers_;
  bic_tensor output_{}, output_given_{};
  bic_call call_{};
};

}  // namespace bic::plugin

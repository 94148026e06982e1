#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/protocol/messages.h"

namespace bic::libtorch {

/// Tensors of a call by name: the inputs and, in form `out`, the output given.
using NamedTensors = std::map<std::string, at::Tensor>;

/// Evaluates the problem's call text on tensors of those names and returns the output. It may be
/// called any number of times, with other tensors than the trial's, and throws what the op throws.
using HonestCall = std::function<at::Tensor(const NamedTensors&)>;

/// One call of one trial, as an interposer sees it; valid during the call only.
struct InterposedCall {
  const protocol::ProblemMessage& problem;
  const protocol::TrialMessage& trial;
  const NamedTensors& tensors;
  const HonestCall& honest;
};

/// Stands between the backend and ATen, so that a backend can be broken on purpose with tensors at
/// hand. The defaults change nothing. One instance lives as long as its backend and may keep state.
/// Every call runs under at::InferenceMode, with the trial's threads set.
class Interposer {
 public:
  virtual ~Interposer() = default;

  /// May change what the backend says of itself.
  virtual void hello(protocol::Hello&) {}

  /// A problem was loaded.
  virtual void load(const protocol::ProblemMessage&) {}

  /// Runs once before the inputs of a trial are gathered.
  virtual void before(const protocol::TrialMessage&) {}

  /// The op's output; anything it throws is an exception of the subject. It may write to inputs, to
  /// the output given and beside them: the backend watches them after it returns.
  virtual at::Tensor call(const InterposedCall& call) { return call.honest(call.tensors); }

  /// May change what the worker reports of a trial.
  virtual void after(protocol::TrialReply&) {}
};

/// The fault of that name (without "fault:"), or null. Defined by adapters/faults (target
/// bic_faults), which is linked where it exists.
std::unique_ptr<Interposer> make_fault(std::string_view name);

}  // namespace bic::libtorch

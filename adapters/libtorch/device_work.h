#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

#include "adapters/libtorch/interposer.h"

// Ways to give a device its work, beside a plain call: Form::kStream and Form::kGraph.

namespace bic::libtorch {

/// A call on inputs.
using Call = std::function<at::Tensor(const NamedTensors&)>;

/// `call` on a stream of its own, while the device's default stream has a millisecond of other
/// work; a copy, made there. The call is made once before. Throws std::invalid_argument on a CPU.
at::Tensor beside_other_work(const Call& call, const NamedTensors& inputs);

/// `call` captured into a graph, and the output of its replay number `replay`, counted from 0; a
/// copy. Between two replays another graph is replayed: the same call on zeros. The output holds
/// other bytes before the last replay. Throws std::invalid_argument on a CPU, and what the call
/// throws when it cannot be captured.
at::Tensor from_graph(const Call& call, const NamedTensors& inputs, int replay);

/// How long `work` takes, which queues calls: on a device that captures graphs by its own clock, as
/// the second replay of a graph, so that only the device's time counts; else by the host's, waited
/// for.
std::int64_t nanoseconds_of(const std::function<void()>& work);

/// Whether this build can capture graphs of the device in use.
bool captures_graphs();

/// Work that was captured, for as long as it lives.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
  virtual void replay() = 0;
};

}  // namespace bic::libtorch

/// The one function of libbic_cuda_graph.so: runs `work` once, then captures it, on a stream of its
/// own. Rethrows what `work` throws, and c10::Error where it cannot be captured.
extern "C" __attribute__((visibility("default"))) void bic_capture_cuda_graph(
    const std::function<void()>& work, std::unique_ptr<bic::libtorch::CapturedWork>& captured);

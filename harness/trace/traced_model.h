#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "adapters/protocol/shared_memory.h"
#include "harness/trace/op_sight.h"
#include "harness/workers/worker.h"

namespace bic {

/// Asks a worker for a study. Throws UsageError with what it says when it cannot make it or dies.
using AskStudy = std::function<nlohmann::json(
    const std::string& study, const nlohmann::json& request, const protocol::SharedMemory& room)>;

/// Of a worker, which must outlive it. Throws UsageError when it does not know the study.
AskStudy ask_of(Worker& worker, const std::string& study);

/// A model as a worker makes it.
struct ModelChoice {
  std::string model = "pi0";
  std::string preset = "tiny-ragged";
  std::string dtype = "fp32";
  std::string weights{};   ///< checkpoint of pi0; empty: synthetic ones
  std::string order{};     ///< of pi0's hidden units; empty: as the weights are stored
  bool in_double = false;  ///< evaluated in fp64, on what `dtype` makes of weights and requests
};

/// As studies are asked: under the members' names, of the last three those that are given.
void to_json(nlohmann::json& j, const ModelChoice& choice);

/// One sample in a batch of them: requests by id.
struct SamplePlan {
  std::int64_t sample = 0;
  std::int64_t batch = 1;
  std::int64_t position = 0;

  /// The sample at its position; at the others, the ids after it in order.
  std::vector<std::int64_t> requests() const;
};

/// A named tensor of one run: the block of the sample under test.
struct TracedTensor {
  std::int64_t order = 0;  ///< among all that the model names
  std::string section, name;
  int invocation = 0;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
  int op = -1;  ///< in TracedRun::ops, the one that wrote it; -1: none
};

/// The named tensors of one forward pass.
struct TracedRun {
  std::vector<TracedTensor> tensors;  ///< in the order of recording
  std::vector<OpSight> ops;
  std::int64_t recorded = 0;    ///< tensors that the model names
  protocol::SharedMemory room;  ///< what `bytes` points into
};

/// An output of an op of one pass: for each axis that the batch divides, the digest of the block.
struct OutputDigest {
  std::vector<std::int64_t> shape;
  std::map<std::int64_t, std::uint64_t> by_axis;
};

/// An op of one pass in short.
struct OpDigest {
  std::string overload;
  std::vector<OutputDigest> outputs;
};

/// Which output, and which of its axes the batch is on.
struct OutputBlock {
  std::int64_t output = 0;
  std::int64_t axis = 0;
};

/// An op in full, and the sample's block of an output.
struct OpBlock {
  OpSight op;
  std::vector<std::byte> bytes;
};

/// Of all that the backend's manifest claims.
OwnOverloads own_overloads(const protocol::Hello& hello);

/// A model run again and again by a worker, each time with another batch.
class TracedModel {
 public:
  /// `room`: most bytes of one run's tensors.
  TracedModel(AskStudy ask, ModelChoice choice, std::int64_t room)
      : ask_(std::move(ask)), choice_(std::move(choice)), room_(room) {}

  /// The tensors that the glob `only` names.
  TracedRun trace(const SamplePlan& plan, const std::string& only) const;

  /// All tensors of requests 0 to `batch` - 1 together, each whole; no ops.
  TracedRun whole(std::int64_t batch, std::int64_t threads) const;

  /// All ops before the tensor of that order was recorded, in the order in which they ended.
  std::vector<OpDigest> ops_before(const SamplePlan& plan, std::int64_t order) const;

  /// Op `number` of that list.
  OpBlock op(const SamplePlan& plan, std::size_t number, const OutputBlock& block) const;

 private:
  nlohmann::json request(const SamplePlan& plan) const;
  TracedRun traced(const nlohmann::json& request) const;

  AskStudy ask_;
  ModelChoice choice_;
  std::int64_t room_;
};

}  // namespace bic

#pragma once

#include <map>
#include <vector>

#include "adapters/protocol/messages.h"
#include "adapters/protocol/shared_memory.h"
#include "harness/plan/arrangement.h"

namespace bic {

/// A problem's samples in shared memory, and the trials as the worker wants them.
class Pool {
 public:
  /// Makes every sample that stands in one of `trials`.
  Pool(const Inputs& inputs,
       std::span<const SampleId> telling,
       std::span<const PlannedTrial> trials);

  const protocol::ProblemMessage& problem() const { return message_; }
  const protocol::SharedMemory& samples() const { return samples_; }

  /// Who stands where. The trial must be one of those given.
  const std::vector<Slot>& slots(const PlannedTrial& trial) const {
    return arranged_.at(trial).slots;
  }
  /// The positions of each sample in a trial, ascending.
  const std::map<Slot, std::vector<std::int64_t>>& positions(const PlannedTrial& trial) const {
    return arranged_.at(trial).positions;
  }

  /// The request for a trial; its `threads` are the run's default, for the sender to set.
  const protocol::TrialMessage& request(const PlannedTrial& trial) const {
    return arranged_.at(trial).request;
  }

 private:
  struct Arranged {
    std::vector<Slot> slots;
    std::map<Slot, std::vector<std::int64_t>> positions;
    protocol::TrialMessage request;
  };

  std::int64_t output_bytes() const;
  void lay_out(const Inputs& inputs);
  void write_samples(const Inputs& inputs);

  protocol::ProblemMessage message_;
  protocol::SharedMemory samples_;
  std::map<PlannedTrial, Arranged> arranged_;
  std::map<Slot, std::uint32_t> index_;
};

}  // namespace bic

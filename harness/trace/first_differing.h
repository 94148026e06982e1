#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/trace/traced_model.h"

namespace bic {

/// A pair of ops, by their numbers in the two lists, that gave the sample different bits.
struct DifferingOp {
  std::size_t alone = 0;
  std::size_t batched = 0;
  OutputBlock block;
  /// Overloads between it and the last pair: what only one of the passes ran. Where a model calls
  /// other ops for other batch sizes, that is the reason.
  std::vector<std::string> only_alone, only_batched;
};

/// The first op of a pass over a batch whose bits for the sample are not those of the pass over the
/// sample alone. Ops are paired in order: the same overload, and outputs one axis of which grew by
/// the batch. What has no partner (a loop over the samples, an op of one size only) is passed over.
std::optional<DifferingOp> first_differing(const std::vector<OpDigest>& alone,
                                           const std::vector<OpDigest>& batched,
                                           std::int64_t batch);

}  // namespace bic

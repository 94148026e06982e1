#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/judge/compare.h"
#include "harness/judge/distance.h"
#include "harness/trace/first_differing.h"
#include "harness/trace/traced_model.h"

namespace bic {

/// A tensor in both runs.
struct TensorPair {
  std::size_t alone = 0, batched = 0;  ///< in their runs
  bool same_shape = true;              ///< and dtype; else nothing below is filled
  bool equal = true;                   ///< to the bit
  std::optional<Difference> difference;
  std::optional<Distance> distance;  ///< of values
};

/// The op that was the first to give the sample other bits.
struct GuiltyOp {
  OpSight alone, batched;
  bool own = false;  ///< the backend's kernel ran in the batch
  OutputBlock block;
  std::optional<Difference> difference;
  std::vector<std::string> only_alone, only_batched;  ///< as in DifferingOp
  std::string case_string;  ///< of an op-level case with these shapes; empty: see `no_case`
  std::string no_case;      ///< why there is none
};

/// The first tensor in the order of recording that is not the same to the bit.
struct Divergence {
  std::size_t pair = 0;
  std::optional<OpSight> producer;  ///< in the batched run; none where no op wrote it
  bool producer_own = false;
  std::optional<GuiltyOp> guilty;  ///< none when no pair of ops before it differs
};

/// A sample alone and in a batch, tensor by tensor.
struct TraceResult {
  SamplePlan plan;
  TracedRun alone, batched;
  std::vector<TensorPair> pairs;  ///< in the order of recording
  std::optional<Divergence> first;

  std::size_t differing() const;
};

/// Traces both runs of `model` and compares the tensors that the glob `only` names; of the first
/// that differs finds the op. Throws UsageError when it names none.
TraceResult trace(const TracedModel& model,
                  const SamplePlan& plan,
                  const std::string& only,
                  const OwnOverloads& own);

/// Of two blocks of one dtype and size.
Distance distance(DType dtype,
                  std::span<const std::byte> alone,
                  std::span<const std::byte> batched);

}  // namespace bic

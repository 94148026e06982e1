#include "harness/judge/witness.h"

#include "adapters/protocol/gather.h"

namespace bic {

bool shows_layout(const protocol::ProblemMessage& problem,
                  const protocol::TrialMessage& request,
                  const protocol::Witness& witness) {
  const std::size_t inputs = problem.inputs.size();
  if (witness.address_mod_64.size() != inputs || witness.strides.size() != inputs ||
      witness.shapes.size() != inputs || witness.form != name(request.trial.form)) {
    return false;
  }
  if (writes_given(request.trial.form) && !witness.gave_output) return false;
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto plan = protocol::plan_tensor(problem, problem.inputs[i], request);
    if (witness.address_mod_64[i] !=
        plan.offset * protocol::element_size(problem.inputs[i].elements) % 64)
      return false;
    if (witness.shapes[i] != plan.shape) return false;
    if (witness.strides[i].size() != plan.strides.size()) return false;
    for (std::size_t axis = 0; axis < plan.strides.size(); ++axis) {
      const bool counts = plan.shape[axis] > 1;  // the stride of a single index addresses nothing
      if (counts && witness.strides[i][axis] != plan.strides[axis]) return false;
    }
  }
  return true;
}

bool shows_change(const Trial& a,
                  const protocol::Witness& of_a,
                  const Trial& b,
                  const protocol::Witness& of_b) {
  const bool moved = a.permutation != b.permutation || a.neighbours != b.neighbours;
  if (moved && of_a.input_digest == of_b.input_digest) return false;
  const bool again = a.run != b.run && a.worker == b.worker;
  return !again || of_a.calls != of_b.calls;
}

std::optional<Reason> thread_fault(int asked,
                                   const protocol::Witness& trial,
                                   const protocol::Witness& against) {
  if (trial.largest_team < 0 || against.largest_team < 0) return Reason::kWitness;
  if (trial.largest_team <= 1 && against.largest_team <= 1) return Reason::kNoParallelRegion;
  if (asked == 1) return trial.largest_team <= 1 ? std::nullopt : std::optional(Reason::kWitness);
  return trial.largest_team == asked ? std::nullopt : std::optional(Reason::kWitness);
}

}  // namespace bic

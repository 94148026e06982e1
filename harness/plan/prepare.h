#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/plan/pool.h"
#include "harness/plan/telling.h"

namespace bic {

/// One case before it is judged.
struct Case {
  std::string name;  ///< canonical case string
  std::string_view relation;
  Level level = Level::kRepeatable;
  Trial named;                         ///< as in the name: sample and position under test
  std::optional<Trial> named_against;  ///< empty for accuracy
  PlannedTrial trial;                  ///< what is run for it, see `canonical`
  std::optional<PlannedTrial> against;
};

/// What the oracle says of one sample, on some of its output elements.
struct Yardstick {
  std::vector<std::int64_t> elements;
  std::vector<Wide> oracle;
  std::vector<double> bound;
};

/// One draw of a problem, and what its controls showed.
struct Draw {
  Law law = Law::kNormal;
  bool searched = false;  ///< its kind needs controls
  bool told_apart = false;
  std::int64_t compared = 0;
  std::map<Order, std::int64_t> changed;
};

/// A problem with everything the parent makes of it, before the backend is asked anything.
struct Prepared {
  Problem problem;
  Telling telling;
  int redraws = 0;
  std::vector<Draw> draws;  ///< the last one is the problem's
  std::vector<std::int64_t> batches;
  std::vector<Case> cases;
  std::unique_ptr<Inputs> inputs;
  std::unique_ptr<Pool> pool;

  /// Oracle and bound of a sample under test; made on first use.
  const Yardstick& yardstick(SampleId sample, const Arithmetic& arithmetic);

  /// SHA-256 of what the op is given for a sample, its own inputs and the common ones; made on
  /// first use.
  const std::string& inputs_digest(SampleId sample);

 private:
  std::map<SampleId, Yardstick> yardsticks_;
  std::map<SampleId, std::string> inputs_digests_;
};

/// Draws the problem, with up to three redraws while its controls agree, and makes its cases and
/// samples. Safe to call from any thread.
std::unique_ptr<Prepared> prepare(const ProblemPlan& plan,
                                  const Selection& selection,
                                  Seed run_seed);

/// The problem as it is first drawn, and its cases on its first sample: neither controls nor
/// samples are made. What a backend does not claim is counted by it.
std::unique_ptr<Prepared> outline(const ProblemPlan& plan,
                                  const Selection& selection,
                                  Seed run_seed);

/// The problem and the one case of a case string, for `repro`.
std::unique_ptr<Prepared> prepare_case(const CaseName& name);

/// The problem as it is first drawn, and one case: a batch of copies of its first sample, twice.
/// Its controls are not asked: it is there to be timed.
std::unique_ptr<Prepared> prepare_to_time(const ProblemPlan& plan,
                                          std::int64_t batch,
                                          Seed run_seed);

/// The problem of a case string at batch sizes of one's own: that case, its sample at each size in
/// the same place against the sample alone, and the cases of every relation.
std::unique_ptr<Prepared> prepare_around(const CaseName& name, std::vector<std::int64_t> batches);

}  // namespace bic

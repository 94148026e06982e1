#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/faults/catalog.h"
#include "harness/workers/worker.h"
#include "results_schema/vocabulary.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// How a planted fault is looked for.
struct HuntOptions {
  Seed seed;
  std::vector<const OpSpec*> ops;  ///< only on these; empty: on all that the fault touches
  std::set<std::string> without;   ///< relations and laws that are left out
  bool full = false;               ///< every case of the quick plan, not only up to the first kill
  std::function<bool()> stopped;   ///< asked between problems
};

/// A case that a fault turned red in the way its catalog entry says.
struct Kill {
  std::string case_name;
  std::string relation;
};

/// What became of a fault on one op.
struct OpHunt {
  std::string op;
  std::optional<Kill> kill;  ///< the first one
  std::int64_t judged = 0;   ///< cases
};

/// What became of a fault.
struct Hunt {
  const faults::Fault* fault = nullptr;
  Seed seed;
  std::vector<OpHunt> ops;
  /// Cases that killed it, by their law (the neighbours' where they have one) and relation.
  std::map<std::pair<Law, std::string>, std::int64_t> kills;
  /// Cases in which a fault that should hold the accuracy bound broke it.
  std::int64_t inaccurate = 0;

  /// Whether every op on which it was looked for shows it.
  bool killed() const;
  /// Relations that should see it and did not; of a full hunt without exclusions only.
  std::vector<std::string> blind(const HuntOptions& options) const;
};

/// Runs the quick plan on a backend with the fault, op by op. Of an ordinary hunt only the
/// relations that the catalog names are run, and of each op only the problems up to the first kill.
Hunt hunt(const faults::Fault& fault, const WorkerLaunch& launch, const HuntOptions& options);

/// The ops of the fault that the options leave, in the catalog's order.
std::vector<const OpSpec*> ops_of(const faults::Fault& fault, const HuntOptions& options);

}  // namespace bic

#pragma once

#include "harness/workers/worker.h"
#include "results_schema/report.h"

namespace bic {

/// What running cases of a report again showed.
struct Replayed {
  std::int64_t cases = 0;
  std::string bits;  ///< why output bits were not compared; empty when they were
};

/// Runs `count` cases again, drawn by `seed`, each alone in the workers of `backend`. Of a run of
/// the whole suite they are drawn from the plan that follows from its seed and strength, so that a
/// case that was left out is missed; of any other from those of the report. Input digests and
/// statuses must be those of the report, and output digests too where device class, ISA and the
/// digests of all libraries are. Throws signing::Refusal for the first case that differs,
/// UsageError when they cannot be run.
Replayed replay(const report::Report& report,
                std::int64_t count,
                Seed seed,
                const WorkerLaunch& backend);

}  // namespace bic

#pragma once

#include "harness/run/resume.h"
#include "harness/run/run.h"
#include "results_schema/report.h"

namespace bic {

/// A report's first words on a run, before anything is judged.
report::Suite describe_suite(const RunOptions& options);
report::Run describe_run(const RunOptions& options, const std::string& plan);

/// What the options say, `plan` being the digest of the plan: known before a worker is started.
RunFacts asked_facts(const RunOptions& options, const std::string& plan);

/// Device, libraries, fingerprint and manifest; each name begins with `prefix`.
void add_subject(const report::Subject& subject, const std::string& prefix, RunFacts& facts);

/// What a run is of: the subject, by its libraries and settings, and the machine as far as it can
/// change a bit.
RunFacts found_facts(const report::Report& report);

}  // namespace bic

#pragma once

#include "harness/plan/prepare.h"
#include "results_schema/report.h"

namespace bic {

/// Adds what the search for telling samples of one problem showed, by law: how many draws were
/// vacuous, and of the outputs of telling samples the share that each control changed.
void add_draws(report::Controls& controls, const Prepared& prepared);

/// Adds what another part of the plan showed.
void add_controls(report::Controls& sum, const report::Controls& part);

}  // namespace bic

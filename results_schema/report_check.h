#pragma once

#include <string>

#include "results_schema/report.h"

namespace bic::report {

/// The first contradiction inside a report, in one line; empty when there is none.
/// Totals: counters sum to `planned`; ops and listed cases, counted again, give the same counters.
std::string check_totals(const Report& report);
/// Verdict: nothing red or in error conforms, as exit code 0 says; no shard is certifiable.
std::string check_verdict(const Report& report);
/// Cases: canonical names, none twice, a reason for each `fail`.
std::string check_cases(const Report& report);
/// Failures: each was found among the red cases, and what it shrank to fails in the same way.
std::string check_failures(const Report& report);
/// Shard: its number is one of its count, and each row of `ops` has its place.
std::string check_shard(const Report& report);
/// Decoder: no question twice, in no shard but the first, and each status as its answer says.
std::string check_decoder(const Report& report);
/// Models: none twice, in no shard but the first, and each status as its tensors say.
std::string check_models(const Report& report);
/// Waivers: the waived cases are theirs, and a conforming report has none to be taken out.
std::string check_waivers(const Report& report);
/// The first of the eight.
std::string check_report(const Report& report);

}  // namespace bic::report

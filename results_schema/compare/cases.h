#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results_schema/case_name.h"
#include "results_schema/report.h"

namespace bic::report {

/// Cases of one op, dtype and relation that changed in the same way.
struct ChangedCases {
  std::string op;
  DType dtype = DType::kFloat32;
  std::string relation;
  std::string size;              ///< where classes of sizes are compared: which one
  std::optional<Status> before;  ///< empty: there was no such case
  std::optional<Status> now;     ///< empty: there is none
  std::int64_t count = 0;
  std::string example;  ///< the first of them: as it is now, or was before where there is none
};

/// What became of the cases, each list worst first.
struct CaseChanges {
  std::vector<ChangedCases> failures;  ///< red or in error now and not before
  std::vector<ChangedCases> lost;      ///< judged before and not now
  std::vector<ChangedCases> vacuous;   ///< judged before; now their agreement proves nothing
  std::vector<ChangedCases> waived;    ///< failing now and not before, under a waiver
  std::vector<ChangedCases> fixed;     ///< red or waived before, passing now
  std::int64_t still_failing = 0;      ///< failing now as they did before
  std::int64_t by_name = 0;            ///< cases compared with themselves
  bool by_class = false;               ///< others were compared by class
};

/// Whether the status is red or an error for what was run; of a waiver that is to be taken out
/// the waivers tell. An absent one neither fails nor is it judged.
bool fails(std::optional<Status> status);

/// Whether the status says something of the subject: fails, passes or is waived.
bool is_judged(std::optional<Status> status);

/// Whether both reports are of the same plan: the same suite, seed, strength and filters.
bool same_plan(const Report& before, const Report& now);

/// Compares each case that stands in both reports with itself. One that stands in one of them alone
/// was lost or is new where the plan is the same; else its class is compared: the cases of its op,
/// dtype, relation and class of sizes.
CaseChanges compare_cases(const Report& before, const Report& now);

/// The class of sizes of a case, by its largest batch, which decides the path that a kernel takes:
/// "B=1", "B=2-16", "B=17-64", "B>64".
std::string size_class(const CaseName& name);

}  // namespace bic::report

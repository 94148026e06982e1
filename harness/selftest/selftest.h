#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/selftest/hunt.h"
#include "results_schema/report.h"

namespace bic {

/// The suite tested with backends that are broken on purpose.
struct SelftestOptions {
  std::string program;  ///< path, beside which the workers lie
  std::vector<const faults::Fault*> faults;
  std::vector<Seed> seeds;
  HuntOptions hunt;     ///< its seed is one of `seeds` in turn
  bool recipe = false;  ///< look with the recipe that people use today
  int jobs = 1;         ///< faults looked for at once
  std::filesystem::path out = "bi-conform-selftest";
};

/// Share of the kills asked for, one for each fault, op and seed, that must be had where several
/// seeds are tried, in ppm.
inline constexpr std::int64_t kEnoughKills = 990'000;

struct SelftestResult {
  /// 0 when all faults are killed on all ops (over several seeds, on 99 % of them) or the recipe
  /// looked, 1 when not, 3 when it was cut.
  int exit_code = 0;
  report::Detection score;  ///< pairs of fault and seed
};

/// Looks for each fault with each seed, prints what killed it and a table class x relation, writes
/// selftest.json, and of a full hunt kill_matrix.csv, under `out`.
SelftestResult selftest(const SelftestOptions& options);

/// Faults by name; all for none. Throws UsageError for an unknown one, naming the nearest.
std::vector<const faults::Fault*> faults_named(const std::vector<std::string>& names);

/// Checks that each is a relation or a law of the suite.
void check_exclusions(const std::vector<std::string>& names);

}  // namespace bic

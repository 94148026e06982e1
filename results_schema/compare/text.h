#pragma once

#include <string>

#include "results_schema/compare/difference.h"

namespace bic::report {

/// Two reports and what changed between them.
struct Comparison {
  const Report& before;
  const Report& now;
  const Difference& difference;
  std::string typed = "bi-conform";  ///< how a person calls the program
};

/// For a terminal: all of it.
std::string difference_text(const Comparison& comparison);

/// The same as a page that fits a pull request's comment, worst first; `whole` says where all of it
/// is when something was left out.
std::string difference_markdown(const Comparison& comparison, const std::string& whole);

}  // namespace bic::report

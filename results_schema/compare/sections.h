#pragma once

#include <string>
#include <vector>

#include "results_schema/compare/difference.h"

namespace bic::report {

/// One thing that changed.
struct ChangeLine {
  std::string text;   ///< one line
  std::string proof;  ///< lines to read and to paste below it; may be empty
};

/// Changes of one sort.
struct ChangeSection {
  std::string title;  ///< "new failures"
  std::string sum;    ///< "142 cases"
  bool red = false;
  std::vector<ChangeLine> lines;  ///< at least one
};

/// What a difference has to say, red before the rest, worst first; without what is empty.
/// `typed` is how a person calls the program.
std::vector<ChangeSection> change_sections(const Difference& difference,
                                           const Report& before,
                                           const Report& now,
                                           const std::string& typed);

}  // namespace bic::report

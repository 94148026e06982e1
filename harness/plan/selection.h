#pragma once

#include <string>
#include <vector>

#include "harness/plan/plan.h"

namespace bic {

/// The filters as typed.
struct SelectionText {
  std::vector<std::string> ops, dtypes, relations;
  std::string level, case_pattern, dims, batches, shapes;
  std::vector<std::string> suites, presets;
  bool has_peer = false;   ///< with --against: the relation `peer` too
  bool on_device = false;  ///< with --device cuda: `stream` and `graph` too
};

/// What they select. Throws UsageError that names the flag, the value and the nearest known name.
Selection make_selection(const SelectionText& text);

/// The filters as they are typed, flag and value in turn: {"--op", "mm", "--relation", "pad"}.
std::vector<std::string> filter_words(const SelectionText& text);

/// The same as one line: "--op mm --relation pad".
std::string filters_text(const SelectionText& text);

}  // namespace bic

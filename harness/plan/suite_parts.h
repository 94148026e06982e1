#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/shapes.h"

namespace bic {

/// A part of the suite, as --suite names it.
struct SuitePart {
  std::string_view name;
  std::string_view what;  ///< a few words for people
  /// Sizes at which it tries the ops; null where it draws them or is a whole model.
  const std::vector<ShapeRow>& (*rows)();
  bool by_default;   ///< in every run that names no part
  bool needs_stock;  ///< a whole model: its op is there only in builds with LibTorch
};

/// The rows of `--suite pi0-ops`: all that the tiny models call, and of what the full-size ones
/// call all but those of which each would take a minute; `--shapes` judges these too.
const std::vector<ShapeRow>& pi0_ops();

/// All of them, in the order of reports.
std::span<const SuitePart> suite_parts();

/// The part of that name; null when there is none.
const SuitePart* find_suite_part(std::string_view name);

/// Names of all parts.
std::vector<std::string> suite_part_names();

}  // namespace bic

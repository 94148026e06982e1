#pragma once

#include <string>
#include <vector>

#include "results_schema/compare/difference.h"

namespace bic {

/// An op and dtype that a gate must see held.
struct RequiredRow {
  std::string op;
  DType dtype = DType::kFloat32;
};

/// Reads a file of them (docs/gate.md): [{"op": "mm", "dtypes": ["fp32", "bf16"]}, …]. Throws
/// UsageError that says what is wrong where, naming the nearest known name.
std::vector<RequiredRow> load_required(const std::string& file);

/// Those that the report does not show to hold the level that it was asked for, waived cases aside.
std::vector<report::MissingRow> missing_rows(const std::vector<RequiredRow>& required,
                                             const report::Report& report);

}  // namespace bic

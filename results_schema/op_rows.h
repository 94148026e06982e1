#pragma once

#include <string>

#include "results_schema/report.h"

namespace bic {

/// The report's row of that op and dtype; null when there is none.
const report::OpRow* find_row(const report::Report& report, const std::string& op, DType dtype);

/// Whether the op in that dtype is in the backend's manifest.
bool is_in_manifest(const report::OpRow& row);

}  // namespace bic

#pragma once

#include <string>
#include <vector>

#include "results_schema/model_row.h"

namespace bic {

/// "67 ops reached, 41 own, reductions on stock: none"; empty where it did not run.
std::string ops_text(const report::ModelRow& row);

/// "tensors of 3 of 3 models within their bounds".
std::string summary(const std::vector<report::ModelRow>& rows);

/// The first row that holds no proof and is not waived: "pi0 tiny bf16: why"; empty when there is
/// none.
std::string first_open(const std::vector<report::ModelRow>& rows);

}  // namespace bic

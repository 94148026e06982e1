#pragma once

#include <string>
#include <vector>

#include "results_schema/model_row.h"

namespace bic {

/// "pi0 tiny-ragged bf16".
std::string text_of(const report::ModelRow& row);

/// "67 ops reached, 41 own, reductions on stock: none"; empty where it did not run.
std::string ops_text(const report::ModelRow& row);

/// Number of rows with that status; of those that are red.
std::int64_t count(const std::vector<report::ModelRow>& rows, Status status);
std::int64_t count_red(const std::vector<report::ModelRow>& rows);

/// "tensors of 3 of 3 models within their bounds".
std::string summary(const std::vector<report::ModelRow>& rows);

/// The first row that holds no proof: "pi0 tiny bf16: why"; empty when there is none.
std::string first_open(const std::vector<report::ModelRow>& rows);

}  // namespace bic

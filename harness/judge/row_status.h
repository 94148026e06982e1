#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/workers/worker.h"

// What the report's rows beside its cases, of decoders and of models, have in common.

namespace bic {

/// Number of rows with that status.
template <typename Row>
std::int64_t count(const std::vector<Row>& rows, Status status) {
  return std::ranges::count(rows, status, &Row::status);
}

/// Number of rows with a red status.
template <typename Row>
std::int64_t count_red(const std::vector<Row>& rows) {
  return std::ranges::count_if(rows, is_red, &Row::status);
}

/// The row of what its worker died of.
template <typename Row>
void bury(Row& row, const Death& death) {
  row.status = death.status;
  if (death.reason) row.reasons = {*death.reason};
  row.message = death.message;
}

}  // namespace bic

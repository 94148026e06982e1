#pragma once

#include <vector>

#include "harness/plan/plan.h"

namespace bic {

/// The law of the problem with that number: the strongest one every other time, the others in turn.
Law law_of(const std::vector<Law>& laws, int index);

/// Problems of the rows' sizes: each row of the cell's op and dtype in turn, until there are at
/// least `count` that can prove bits, with its variants and laws in turn; and its accuracy
/// problems. Rows with relations of their own once. None where no row fits. Adding a row with an id
/// never changes another id's problems.
void add_shapes(Cell& cell, const std::vector<ShapeRow>& rows, int count);

}  // namespace bic

#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/binary.h"

namespace bic::ops {

OpSpec add() { return binary("add", "y = x + alpha o (IEEE 754-2019, 5.4.1)", Binary::kAdd); }

}  // namespace bic::ops

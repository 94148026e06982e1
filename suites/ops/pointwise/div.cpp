#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/binary.h"

namespace bic::ops {

OpSpec div() { return binary("div", "y = x / o (IEEE 754-2019, 5.4.1)", Binary::kDiv); }

}  // namespace bic::ops

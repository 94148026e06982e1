#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/binary.h"

namespace bic::ops {

OpSpec mul() { return binary("mul", "y = x o (IEEE 754-2019, 5.4.1)", Binary::kMul); }

}  // namespace bic::ops

#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/unary.h"

namespace bic::ops {

OpSpec rsqrt() {
  return unary("rsqrt",
               "y = 1 / sqrt |x|",
               "body and tail round the root to 16 bits, or do not",
               Pointwise::kRsqrt,
               true);
}

}  // namespace bic::ops

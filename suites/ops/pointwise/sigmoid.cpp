#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/unary.h"

namespace bic::ops {

OpSpec sigmoid() {
  return unary("sigmoid",
               "y = 1 / (1 + exp(-x))",
               "the vector's exp and the tail's are two implementations",
               Pointwise::kSigmoid);
}

}  // namespace bic::ops

#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/unary.h"

namespace bic::ops {

OpSpec exp() {
  return unary("exp",
               "y = exp x",
               "the vector's exp and the tail's are two implementations",
               Pointwise::kExp);
}

}  // namespace bic::ops

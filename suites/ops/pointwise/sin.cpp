#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/unary.h"

namespace bic::ops {

OpSpec sin() {
  return unary(
      "sin", "y = sin x", "body and tail reduce large arguments in two ways", Pointwise::kSin);
}

}  // namespace bic::ops

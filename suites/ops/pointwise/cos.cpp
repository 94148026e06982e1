#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/unary.h"

namespace bic::ops {

OpSpec cos() {
  return unary(
      "cos", "y = cos x", "body and tail reduce large arguments in two ways", Pointwise::kCos);
}

}  // namespace bic::ops

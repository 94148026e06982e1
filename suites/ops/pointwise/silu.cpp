#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/unary.h"

namespace bic::ops {

OpSpec silu() {
  return unary("silu",
               "y = x / (1 + exp(-x)) (arXiv:1702.03118)",
               "an element's place decides between the vector body and the scalar tail",
               Pointwise::kSilu);
}

}  // namespace bic::ops

#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/unary.h"

namespace bic::ops {

OpSpec tanh() {
  return unary("tanh",
               "y = tanh x",
               "the vector's tanh and the tail's are two implementations",
               Pointwise::kTanh);
}

}  // namespace bic::ops

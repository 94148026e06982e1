#include "suites/ops/declarations.h"
#include "suites/ops/pointwise/unary.h"

namespace bic::ops {

OpSpec log() {
  return unary("log",
               "y = log |x|",
               "the vector's log and the tail's are two implementations",
               Pointwise::kLog,
               true);
}

}  // namespace bic::ops

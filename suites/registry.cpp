#include "suites/ops/declarations.h"

namespace bic {

const std::vector<OpSpec>& registry() {
  static const std::vector<OpSpec> ops{
      mm(),
      linear(),
      bmm(),
      sum(),
      softmax(),
      layer_norm(),
      gelu(),
  };
  return ops;
}

}  // namespace bic

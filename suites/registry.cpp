#include "suites/ops/declarations.h"

namespace bic {

const std::vector<OpSpec>& registry() {
  static const std::vector<OpSpec> all{
#define BIC_OP(family, op) ops::op(),
#include "suites/ops/registry.inc"
#undef BIC_OP
  };
  return all;
}

}  // namespace bic

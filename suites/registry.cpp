#include "suites/ops/declarations.h"

namespace bic {
namespace {

std::vector<OpSpec>& all_ops() {
  static std::vector<OpSpec> all{
#define BIC_OP(family, op) ops::op(),
#include "suites/ops/registry.inc"
#undef BIC_OP
  };
  return all;
}

}  // namespace

const std::vector<OpSpec>& registry() { return all_ops(); }

void declare_op(OpSpec op) { all_ops().push_back(std::move(op)); }

}  // namespace bic

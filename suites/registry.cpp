#include <algorithm>

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

void declare_op(OpSpec op) {
  std::vector<OpSpec>& all = all_ops();
  const auto at = std::ranges::find(all, op.name, &OpSpec::name);
  if (at == all.end()) {
    all.push_back(std::move(op));
  } else {
    *at = std::move(op);
  }
}

}  // namespace bic

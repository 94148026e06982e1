#pragma once

#include "suites/ops/op_spec.h"

namespace bic::ops {

#define BIC_OP(family, op) OpSpec op();
#include "suites/ops/registry.inc"
#undef BIC_OP

}  // namespace bic::ops

#pragma once

#include "suites/ops/op_spec.h"

namespace bic::ops {

#define BIC_OP(family, op) OpSpec op();
#include "suites/ops/registry.inc"
#undef BIC_OP

/// Whole models, which are no ops of the registry until there is a reference for them.
OpSpec pi0();

}  // namespace bic::ops

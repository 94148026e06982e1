#pragma once

#include "suites/ops/op_spec.h"

namespace bic {

// One function an op; suites/registry.cpp lists them.

OpSpec mm();
OpSpec linear();
OpSpec bmm();
OpSpec sum();
OpSpec softmax();
OpSpec layer_norm();
OpSpec gelu();

}  // namespace bic

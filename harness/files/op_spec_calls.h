#pragma once

#include <string>

#include "harness/files/json_node.h"
#include "suites/ops/op_spec.h"

namespace bic {

/// The call text at a place of an op's file. Throws UsageError where it is none, or names what
/// neither the op nor an earlier step of it has.
std::string call_text(const JsonNode& at, const OpSpec& op);

/// How a host is called that is not told otherwise: `(y) = user::op(x, w, eps=eps)`.
std::string default_call(const OpSpec& op);

}  // namespace bic

#pragma once

namespace bic::cpu {

/// Whether this CPU has VDPBF16PS, and no test pretends that it lacks it.
bool has_bf16_dot();

/// For tests of the other path: from now on, has_bf16_dot() is false, or again the truth.
void pretend_no_bf16_dot(bool lacks);

}  // namespace bic::cpu

#pragma once

namespace bic {

/// Cores that this process may run on, at least 1: those that a taskset or a batch system leaves
/// it.
int usable_cores();

}  // namespace bic

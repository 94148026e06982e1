#pragma once

namespace bic {

/// Threads of the largest OpenMP parallel region that anything in this process asked for since the
/// last reset; starts again from 0 when `reset` is not 0.
unsigned largest_team(int reset);

}  // namespace bic

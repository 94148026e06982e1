#pragma once

#include <cstdint>

namespace bic {

/// Processes that this system has killed since it started because memory ran out; -1 where it does
/// not tell.
std::int64_t oom_kills();

}  // namespace bic

#pragma once

#include <memory>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// Faults whose values are wrong: no order of summation excuses them.
std::unique_ptr<libtorch::Interposer> nan_leak();
std::unique_ptr<libtorch::Interposer> stale_output();
std::unique_ptr<libtorch::Interposer> tf32_inputs();
std::unique_ptr<libtorch::Interposer> dropped_tail();

}  // namespace bic::faults

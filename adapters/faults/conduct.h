#pragma once

#include <memory>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// Faults against the contract of a call, whatever its values.
std::unique_ptr<libtorch::Interposer> scribbled_input();
std::unique_ptr<libtorch::Interposer> not_called();
std::unique_ptr<libtorch::Interposer> out_of_bounds();
std::unique_ptr<libtorch::Interposer> wrong_dtype();
std::unique_ptr<libtorch::Interposer> wrong_shape();
std::unique_ptr<libtorch::Interposer> refuses();
std::unique_ptr<libtorch::Interposer> crashes();
std::unique_ptr<libtorch::Interposer> hangs();

}  // namespace bic::faults

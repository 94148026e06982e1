#pragma once

#include <memory>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// Faults of single ops, which get wrong what only they have.
std::unique_ptr<libtorch::Interposer> alpha_ignored();
std::unique_ptr<libtorch::Interposer> mask_off_by_one();
std::unique_ptr<libtorch::Interposer> batch_statistics();
std::unique_ptr<libtorch::Interposer> scan_tail();
std::unique_ptr<libtorch::Interposer> masked_nan();

}  // namespace bic::faults

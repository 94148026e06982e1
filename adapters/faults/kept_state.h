#pragma once

#include <memory>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// Faults that keep something from one call to the next.
std::unique_ptr<libtorch::Interposer> cached_by_content();
std::unique_ptr<libtorch::Interposer> hash_collision();
std::unique_ptr<libtorch::Interposer> previous_output();
std::unique_ptr<libtorch::Interposer> replayed();

/// Those that choose between two honest evaluations by what was called before.
std::unique_ptr<libtorch::Interposer> first_call();
std::unique_ptr<libtorch::Interposer> autotune_by_shape();
std::unique_ptr<libtorch::Interposer> tier_up();
std::unique_ptr<libtorch::Interposer> grown_workspace();
std::unique_ptr<libtorch::Interposer> noisy();
std::unique_ptr<libtorch::Interposer> atomic_add();
std::unique_ptr<libtorch::Interposer> rare_element();
std::unique_ptr<libtorch::Interposer> advancing_stream();

}  // namespace bic::faults

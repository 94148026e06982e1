#pragma once

#include <memory>

#include "adapters/libtorch/interposer.h"

namespace bic::faults {

/// Batch slots [first, last).
struct Slots {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Which slots of a call are computed otherwise; none in most calls.
using Choice = Slots (*)(const libtorch::InterposedCall&);

/// Faults that choose between two honest evaluations, by what the name says.
std::unique_ptr<libtorch::Interposer> other_order(Choice choice);
std::unique_ptr<libtorch::Interposer> first_call();
std::unique_ptr<libtorch::Interposer> noisy();
std::unique_ptr<libtorch::Interposer> cached_by_content();
std::unique_ptr<libtorch::Interposer> scalar_tail();
std::unique_ptr<libtorch::Interposer> halves_of_k();

Slots split_by_batch(const libtorch::InterposedCall&);
Slots tile_by_batch(const libtorch::InterposedCall&);
Slots last_position(const libtorch::InterposedCall&);
Slots one_batch_size(const libtorch::InterposedCall&);
Slots neighbour_scale(const libtorch::InterposedCall&);
Slots thread_split(const libtorch::InterposedCall&);
Slots misaligned(const libtorch::InterposedCall&);
Slots strided(const libtorch::InterposedCall&);
Slots given_output(const libtorch::InterposedCall&);
Slots decode_order(const libtorch::InterposedCall&);
Slots vector_order(const libtorch::InterposedCall&);

}  // namespace bic::faults
